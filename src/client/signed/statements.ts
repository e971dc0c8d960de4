/**
 * Statements about tokens and stored secrets in a signed workspace (protocol 12). Every statement
 * names the newest link that its signer knew.
 */
import { fromBase64, toBase64Url } from '../../core/crypto/encoding.ts'
import { webSha256 } from '../../core/crypto/web_primitives.ts'
import { type Chain, type SignedText, signText, type TokenGrant } from '../../sigchain/index.ts'

/** A signed workspace for a signer: its verified chain, and the signer. */
export type MemberSigner = { chain: Chain; userId: string; signingKey: CryptoKey }

/** The content of a grant. */
type Implicit = 'v' | 'workspace_id' | 'head' | 'signer'
export type GrantTerms =
  | Omit<Extract<TokenGrant, { v: 2 }>, Implicit>
  | Omit<Extract<TokenGrant, { v: 3 }>, Implicit>

export type Place = { projectId: string; environment: string }

type TokenEnvelope = { project_id: string; environment: string; epoch: number; envelope: string }

export function signGrant(signer: MemberSigner, terms: GrantTerms): Promise<SignedText> {
  const text =
    'hosts' in terms
      ? { ...toStatementBase(signer), ...terms, v: 3 as const }
      : { ...toStatementBase(signer), ...terms }
  return signText('grant', text, signer.signingKey)
}

/** An envelope of a token with its statement, as it is sent. */
export async function signEnvelope<E extends TokenEnvelope>(
  signer: MemberSigner,
  tokenId: string,
  entry: E,
): Promise<E & SignedText> {
  const { project_id, environment, epoch } = entry
  const raw = fromBase64(entry.envelope) ?? new Uint8Array()
  const envelope_sha256 = toBase64Url(await webSha256(raw))
  const text = { token_id: tokenId, project_id, environment, epoch, envelope_sha256 }
  return {
    ...entry,
    ...(await signText('envelope', { ...toStatementBase(signer), ...text }, signer.signingKey)),
  }
}

export function signManifest(
  signer: MemberSigner,
  { projectId, environment }: Place,
  { revision, root }: { revision: number; root: string },
): Promise<SignedText> {
  const place = { project_id: projectId, environment, epoch: signer.chain.epoch }
  return signText(
    'manifest',
    { ...toStatementBase(signer), ...place, revision, root },
    signer.signingKey,
  )
}

function toStatementBase({ chain, userId }: MemberSigner) {
  return { v: 2, workspace_id: chain.workspaceId, head: chain.head, signer: userId } as const
}
