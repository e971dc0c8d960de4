import { type Chain, type SignedText, verifyEnvelope } from '../../sigchain/index.ts'
import { accepted, requireSigned } from './accepting.ts'

/** An envelope as it is sent, with its statement beside it in a signed workspace. */
type Sent = {
  project_id: string
  environment: string
  epoch: number
  envelope: string
} & Partial<Record<keyof SignedText, string | undefined>>

/** As it is stored; null in plain workspaces. */
export type StoredStatement = { statement: string | null; signature: Uint8Array | null }

/**
 * The statement of an envelope, which holds for it; `path` is where the entry stands.
 *
 * @throws Fault `link_required`, `link_refused`
 */
export async function acceptEnvelope(
  { workspaceId, userId, tokenId }: { workspaceId: string; userId: string; tokenId: string },
  chain: Chain | null,
  { statement, signature, ...sent }: Sent,
  path: string,
): Promise<StoredStatement> {
  const given =
    statement !== undefined && signature !== undefined ? { statement, signature } : undefined
  const signed = requireSigned(workspaceId, given, `${path}.statement`)
  if (!signed || !chain) return { statement: null, signature: null }
  const envelope = Uint8Array.fromBase64(sent.envelope)
  const { project_id: projectId, environment, epoch } = sent
  const entry = { tokenId, projectId, environment, epoch, envelope }
  await accepted(userId, path, () => verifyEnvelope(chain, signed, entry))
  return { statement: signed.statement, signature: Uint8Array.fromBase64(signed.signature) }
}
