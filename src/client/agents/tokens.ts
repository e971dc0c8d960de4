/**
 * Creates tokens on the client: the server receives a verifier and sealed keys, but never the token. In a signed
 * workspace, the permissions are signed, and the token is bound to the chain.
 */
import { toBase64, uuidv7, uuidv8 } from '../../core/crypto/encoding.ts'
import { mintToken, tokenAuth, tokenKeyPair, verifierOf } from '../../core/crypto/token.ts'
import type { TokenLimits } from '../../core/token_limits.ts'
import {
  type Chain,
  isSignedId,
  makeBinding,
  Refusal,
  readFirstHash,
  type TokenGrant,
} from '../../sigchain/index.ts'
import { readLocalTime, requireSameTime } from '../http/transport.ts'
import { type Place, signGrant } from '../signed/statements.ts'
import { grantEnvironment } from '../vault.ts'
import type { OpenWorkspace } from '../workspace.ts'
import { EndedToken, type ListedToken, type Standing, standingOf } from './standing.ts'

/** Missing fields have their default. */
export type TokenOrder = {
  label?: string
  expires_in_days?: number | null
  capabilities?: TokenGrant['capabilities']
  /** Its allowed hosts, in allowlist syntax, and secret names. */
  hosts?: string[]
  secrets?: string[]
  limits?: TokenLimits
}

/** Null means every project, or environment. */
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

/**
 * `body` is the request; `places` are the environments whose keys the token gets.
 *
 * @throws ClocksDiffer for an expiry that counts from now, if this machine and the server differ by more than an hour
 */
export async function makeToken(
  workspace: OpenWorkspace,
  scope: TokenScope,
  order: TokenOrder,
  places: readonly Place[],
) {
  const signer = await workspace.signer('agent.manage')
  if (order.expires_in_days !== null) requireSameTime()
  const { kind, projectId, environment } = scope
  const { id, secret, text } = mintToken(kinds[kind].prefix, signer ? uuidv8() : uuidv7())
  const publicKey = toBase64(tokenKeyPair(id, secret).publicKey)
  const envelopes = await Promise.all(
    places.map((place) => grantEnvironment(signer, workspace, { id, publicKey }, place)),
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
    ...toNarrowing(order),
  })
  const binding = await makeBinding({ id, secret }, readFirstHash(signer.chain))
  return { id, text, body: { token: { ...token, grant, binding } } }
}

/** The holder of the token: an agent, or a project with workload tokens. */
export type TokenOwner = { agentId: string } | { projectId: string }

type Labelled = ListedToken & { label: string }

/**
 * The public key that seals keys for a token: in a signed workspace from its grant, which also has its scope.
 *
 * @throws EndedToken, UntrustedChain
 */
export async function holderOf(workspace: OpenWorkspace, token: Labelled, owner: TokenOwner) {
  const holder = { id: token.id, publicKey: token.public_key }
  const standing = await checkStanding(workspace, token, owner)
  if (standing === null) return { ...holder, scope: null }
  if (standing.is !== 'granted') throw new EndedToken(token.label, standing)
  const { project_id, environment } = standing.grant
  return { ...holder, scope: { projectId: project_id, environment } }
}

/**
 * Whether the grant of that owner's token with that label is valid; null in a plain workspace. @throws UntrustedChain
 * if no administrator signed it
 */
export async function checkStanding(
  workspace: OpenWorkspace,
  token: Labelled,
  owner: TokenOwner,
): Promise<Standing | null> {
  return workspace.verify(async (chain) => {
    const standing = await standingOf(chain, token)
    if (standing.is !== 'ungranted') {
      requireOwner(standing.grant, owner)
      if (standing.grant.label !== token.label) throw buildMismatch()
    }
    return standing
  })
}

const buildMismatch = () => new Refusal('mismatch', 'it was granted to another agent', 'the grant')

function requireOwner({ agent_id, project_id }: TokenGrant, owner: TokenOwner): void {
  const isOwned =
    'agentId' in owner
      ? agent_id === owner.agentId
      : agent_id === null && project_id === owner.projectId
  if (!isOwned) throw buildMismatch()
}

/** The grant of a token that is that owner's. @throws EndedToken, Refusal */
export async function grantTo(chain: Chain, token: Labelled, owner: TokenOwner) {
  const standing = await standingOf(chain, token)
  if (standing.is !== 'granted') throw new EndedToken(token.label, standing)
  requireOwner(standing.grant, owner)
  return standing.grant
}

/** The signed link that keeps tokens revoked, even if the database changes later; null if it exists already. */
export function revocationOf({ revokedTokens }: Chain, ids: readonly string[]) {
  const token_ids = ids.filter((id) => isSignedId(id) && !revokedTokens.has(id))
  return token_ids.length > 0 ? ({ type: 'tokens.revoked', body: { token_ids } } as const) : null
}

function toNarrowing({ hosts, secrets, limits }: TokenOrder) {
  if (!hosts && !secrets && !limits) return {}
  return { hosts: hosts ?? null, secrets: secrets ?? null, limits: limits ?? null }
}

function expiryOf({ expires_in_days: days = USUAL_DAYS }: TokenOrder): string | null {
  return days === null ? null : new Date(readLocalTime() + days * DAY_MS).toISOString()
}
