/** The people and tokens that could have seen a secret, according to signed links and grants. */
import { listProjects } from '../../features/projects/contract.ts'
import {
  type Chain,
  type Link,
  Refusal,
  type TokenGrant,
  verifyGrant,
} from '../../sigchain/index.ts'
import { emailsIn } from '../signed/link_in_words.ts'
import { listAllTokens, type OwnedToken, verifiedOf } from '../signed/rekey_tokens.ts'
import type { WorkspacePlace } from '../workspace.ts'

/** Null in a plain workspace, where nothing is signed. @throws UntrustedChain */
export async function readExposure({ api, workspace }: WorkspacePlace, environment: string | null) {
  const { id, chains } = workspace
  if (chains === null) return null
  const [chain, links, projects] = await Promise.all([
    chains.of(workspace),
    chains.history(workspace),
    api.list(listProjects, { query: { workspace_id: id } }),
  ])
  const listed = await listAllTokens(api, id, projects)
  const tokens = await Promise.all(
    listed.map((token) => tokenIn({ chain, links, token, environment })),
  )
  return { people: peopleIn(chain, links), rekeys: rekeysIn(chain, links), tokens: tokens.flat() }
}

/** Rekeys: members who left before have no key to later values. */
function rekeysIn({ history }: Chain, links: readonly Link[]) {
  const emails = emailsIn(links)
  return links.flatMap(({ type, body, at, signer }) =>
    type === 'epoch.advanced' && history.has(signer)
      ? [{ at, epoch: body.epoch, by: emails.get(signer) ?? signer }]
      : [],
  )
}

/** The periods in which each person had the workspace key. `to` is null for current members. */
function peopleIn(chain: Chain, links: readonly Link[]) {
  const emails = emailsIn(links)
  const getLinkAt = (seq: number) => links[seq - 1]?.at ?? ''
  return [...chain.history].flatMap(([userId, periods]) => {
    const spans: { userId: string; email: string; from: string; to: string | null }[] = []
    for (const { since, role } of periods) {
      const last = spans.at(-1)
      if (role === null && last) last.to = getLinkAt(since)
      else if (role !== null && (!last || last.to !== null)) {
        spans.push({
          userId,
          email: emails.get(userId) ?? userId,
          from: getLinkAt(since),
          to: null,
        })
      }
    }
    return spans
  })
}

type Looked = {
  chain: Chain
  links: readonly Link[]
  token: OwnedToken
  environment: string | null
}

/** A current or ended token according to its grant: its start, and the reason of its end. */
async function tokenIn({ chain, links, token, environment }: Looked) {
  const { id, grant, public_key: publicKey, label } = token
  if (!grant) return []
  // Its grant before it ended.
  const before = { ...chain, revokedTokens: new Set<string>() }
  const text = await verifyGrant(before, grant, { id, publicKey }, new Date(0)).catch(
    describeRefusal,
  )
  if (typeof text === 'string') {
    const unknown = { agent: null, mayRead: null, after: null, to: null }
    return [{ ...unknown, id, label, environments: [], fault: text }]
  }
  const isLive = token.status === 'active'
  const { places } = await verifiedOf(token, chain)
  const named = isLive ? [...new Set(places.map((place) => place.environment))] : scopeOf(text)
  const isMeant = environment === null || named === null || named.includes(environment)
  if (!isMeant || named?.length === 0) return []
  const revoked = links.find(
    ({ type, body }) => type === 'tokens.revoked' && body.token_ids.includes(id),
  )
  return [
    {
      ...{ id, agent: agentOf(token, text), label: text.label },
      ...{ environments: named ?? [], fault: null },
      mayRead: text.capabilities.some((capability) => capability === 'read'),
      after: links[(chain.positions.get(text.head) ?? 0) - 1]?.at ?? null,
      to: revoked?.at ?? text.expires_at,
    },
  ]
}

/** The agent's name, if the token is one of the agent that its grant names. */
export function agentOf({ agent }: OwnedToken, { agent_id: id }: TokenGrant): string | null {
  return agent !== null && agent.id === id ? agent.name : null
}

/** Null means every environment. */
function scopeOf({ environment }: TokenGrant): string[] | null {
  return environment === null ? null : [environment]
}

function describeRefusal(error: unknown): string {
  if (error instanceof Refusal) return error.message
  throw error
}
