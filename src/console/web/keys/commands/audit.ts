/** Who could have seen a secret, as far as signatures say it: people by the links, tokens by their grants. */

import { grantOf } from '../../../../client/agents/tokens.ts'
import { listTokens, verifiedOf } from '../../../../client/signed/rekey_tokens.ts'
import { listProjects } from '../../../../features/projects/contract.ts'
import { type Chain, type Link, Refusal } from '../../../../sigchain/index.ts'
import { Refused } from '../failure.ts'
import type { Held } from '../held.ts'
import { workspaceOf } from '../places.ts'

/** @throws UntrustedChain, Refused `not_signed` */
export async function seen(
  held: Held,
  { workspaceId, environment }: { workspaceId: string; environment: string | null },
) {
  const entry = await workspaceOf(held, workspaceId)
  const { chains } = held.reader().trust
  if (!entry.open.signing) throw new Refused('not_signed')
  const [chain, links, projects] = await Promise.all([
    chains.of(entry),
    chains.history(entry),
    held.api.list(listProjects, { query: { workspace_id: workspaceId } }),
  ])
  const listed = await listTokens(held.api, workspaceId, projects)
  const live = listed.filter(({ status }) => status === 'active')
  const tokens = await Promise.all(live.map((token) => tokenIn(chain, token, environment)))
  return { people: peopleIn(chain, links), tokens: tokens.flat() }
}

/** Each time that somebody had the key of the workspace; `to` is null where that goes on. */
function peopleIn(chain: Chain, links: readonly Link[]) {
  const emails = emailsIn(links)
  const at = (seq: number) => links[seq - 1]?.at ?? ''
  return [...chain.history].flatMap(([userId, periods]) => {
    const spans: { userId: string; email: string; from: string; to: string | null }[] = []
    for (const { since, role } of periods) {
      const last = spans.at(-1)
      if (role === null && last) last.to = at(since)
      else if (role !== null && (!last || last.to !== null)) {
        spans.push({ userId, email: emails.get(userId) ?? userId, from: at(since), to: null })
      }
    }
    return spans
  })
}

/** People keep their address, also when they are gone. */
function emailsIn(links: readonly Link[]): Map<string, string> {
  const people = links.flatMap(({ type, body }) => {
    if (type === 'workspace.created') return [body.founder]
    return type === 'members.put' ? body.members : []
  })
  return new Map(people.map(({ user_id, email }) => [user_id, email]))
}

type Token = Awaited<ReturnType<typeof listTokens>>[number]

async function tokenIn(chain: Chain, token: Token, environment: string | null) {
  const grant = await grantOf({ chain }, token).catch((error: unknown) => {
    if (error instanceof Refusal) return null
    throw error
  })
  if (grant === null) return []
  const { places } = await verifiedOf(token, chain)
  const named = [...new Set(places.map((place) => place.environment))]
  if (environment !== null && !named.includes(environment)) return []
  const mayRead = grant.capabilities.some((capability) => capability === 'read')
  return [{ id: token.id, label: grant.label, environments: named, mayRead }]
}
