/**
 * Tokens that are made here: the server receives what checks one and the keys sealed to it, and never the
 * token. In a signed workspace what it may do is signed, and its own secret vouches for the chain.
 */
import { toBase64, uuidv7, uuidv8 } from '../../platform/crypto/encoding.ts'
import { mintToken, tokenAuth, tokenKeyPair, verifierOf } from '../../platform/crypto/token.ts'
import {
  type Chain,
  firstHash,
  isSignedId,
  makeBinding,
  Refusal,
  type SignedText,
  type TokenGrant,
  verifyGrant,
} from '../../sigchain/index.ts'
import { UntrustedChain } from '../signed/chain.ts'
import { type Place, type Signer, signGrant } from '../signed/statements.ts'
import { grantEnvironment, type OpenWorkspace, signerOf } from '../vault.ts'

/** Where there is nothing, the usual is meant. */
export type TokenOrder = {
  label?: string
  expires_in_days?: number | null
  capabilities?: TokenGrant['capabilities']
  /** To what it is narrowed, in the allowlist's syntax and by name. */
  hosts?: string[]
  secrets?: string[]
}

/** Null stands for every project, or environment. */
export type TokenScope =
  | { kind: 'agent'; agentId: string; projectId: string | null; environment: string | null }
  | { kind: 'workload'; projectId: string; environment: string }

const kinds = {
  agent: { prefix: 'agt', capabilities: ['use'] },
  workload: { prefix: 'wkl', capabilities: ['use', 'read'] },
} as const
const USUAL_LABEL = 'default'
const USUAL_DAYS = 90
const DAY_MS = 86_400_000

/** `body` is what issuing takes; `places` are the environments whose keys the token gets. */
export async function makeToken(
  workspace: OpenWorkspace,
  scope: TokenScope,
  order: TokenOrder,
  places: readonly Place[],
) {
  const signer = await signerOf(workspace)
  const { kind, projectId, environment } = scope
  const { id, secret, text } = mintToken(kinds[kind].prefix, signer ? uuidv8() : uuidv7())
  const publicKey = toBase64(tokenKeyPair(id, secret).publicKey)
  const envelopes = await Promise.all(
    places.map((place) =>
      grantEnvironment(workspace, { id, publicKey }, place.projectId, place.environment),
    ),
  )
  const verifier = toBase64(verifierOf(tokenAuth(id, secret)))
  const token = { id, verifier, public_key: publicKey, envelopes }
  if (signer === null) return { id, text, body: { ...order, environment, token } }
  const grant = await signGrant(signer, {
    token_id: id,
    kind,
    agent_id: scope.kind === 'agent' ? scope.agentId : null,
    label: order.label ?? USUAL_LABEL,
    public_key: publicKey,
    capabilities: order.capabilities ?? [...kinds[kind].capabilities],
    project_id: projectId,
    environment,
    expires_at: expiryOf(order),
    ...narrowedBy(order),
  })
  const binding = await makeBinding({ id, secret }, firstHash(signer.chain))
  return { id, text, body: { token: { ...token, grant, binding } } }
}

export type ListedToken = { id: string; public_key: string; grant?: SignedText | null | undefined }

/** Of whose token it is shown: an agent's, or of the workloads of a project. */
export type TokenOwner = { agentId: string } | { projectId: string }

/**
 * What a token is sealed to: in a signed workspace by its grant, which is that owner's, and says where it may be used.
 *
 * @throws UntrustedChain
 */
export async function holderOf(
  workspace: OpenWorkspace,
  token: ListedToken & { label: string },
  owner: TokenOwner,
) {
  const signer = await signerOf(workspace)
  const holder = { id: token.id, publicKey: token.public_key }
  if (signer === null) return { ...holder, scope: null }
  try {
    const { project_id, environment, label } = await grantTo(signer, token, owner)
    if (label !== token.label) throw notIts()
    return { ...holder, scope: { projectId: project_id, environment } }
  } catch (error) {
    throw error instanceof Refusal ? new UntrustedChain(workspace, error.message, error) : error
  }
}

const notIts = () => new Refusal('mismatch', 'it was granted to another', 'the grant')

/** The grant of a token that is that owner's. @throws Refusal */
export async function grantTo(
  signer: Pick<Signer, 'chain'>,
  token: ListedToken,
  owner: TokenOwner,
) {
  const grant = await grantOf(signer, token)
  const { agent_id, project_id } = grant
  const isOwned =
    'agentId' in owner
      ? agent_id === owner.agentId
      : agent_id === null && project_id === owner.projectId
  if (!isOwned) throw notIts()
  return grant
}

/** @throws Refusal */
export function grantOf({ chain }: Pick<Signer, 'chain'>, { id, public_key, grant }: ListedToken) {
  if (!grant) throw new Refusal('form', 'there is none', 'the grant')
  return verifyGrant(chain, grant, { id, publicKey: public_key }, new Date())
}

/** What is signed so that tokens stay revoked, whatever the database says later; null where it was before. */
export function revocationOf({ revokedTokens }: Chain, ids: readonly string[]) {
  const token_ids = ids.filter((id) => isSignedId(id) && !revokedTokens.has(id))
  return token_ids.length > 0 ? ({ type: 'tokens.revoked', body: { token_ids } } as const) : null
}

function narrowedBy({ hosts, secrets }: TokenOrder) {
  if (!hosts && !secrets) return {}
  return { hosts: hosts ?? null, secrets: secrets ?? null, limits: null }
}

function expiryOf({ expires_in_days: days = USUAL_DAYS }: TokenOrder): string | null {
  return days === null ? null : new Date(Date.now() + days * DAY_MS).toISOString()
}
