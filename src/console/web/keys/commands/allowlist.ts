/** Allowed hosts: the signed ones, or the server's rows if the workspace is not signed. */
import {
  allowHosts,
  callsAllowedBy,
  disallowHost,
  hostUses,
  listKnownHosts,
  readAllowlist,
} from '../../../../client/actions/allowlist.ts'
import { getUsage } from '../../../../features/usage/contract.ts'
import { Refused } from '../failure.ts'
import { placeIn } from '../places.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

export const allowlistCommands = { list, add, remove, calls, uses }

type Of = { workspaceId: string }

/** `seq` is the number of the link that allows a host. Null in an unsigned workspace. */
async function list(session: UnlockedSession, { workspaceId }: Of) {
  const place = await placeIn(session, workspaceId)
  const { entries, ...misstated } = await readAllowlist(place)
  const listed = entries.map((entry): HostEntry => {
    const { domain, added_by_email: by, added_at: at } = entry
    return { domain, by, at, seq: 'seq' in entry ? entry.seq : null }
  })
  return { isSigned: place.workspace.chains !== null, entries: listed, ...misstated }
}

export type HostEntry = { domain: string; by: string | null; at: string; seq: number | null }

async function add(session: UnlockedSession, { workspaceId, domain }: Of & { domain: string }) {
  const added = await allowHosts(await placeIn(session, workspaceId), [domain])
  return { isNew: added.length > 0 }
}

async function remove(session: UnlockedSession, { workspaceId, domain }: Of & { domain: string }) {
  await disallowHost(await placeIn(session, workspaceId), domain)
}

/** Calls of the last 7 days that no other entry allows. */
async function calls(session: UnlockedSession, { workspaceId, domain }: Of & { domain: string }) {
  const others = await listKnownHosts(await placeIn(session, workspaceId))
  const found = await callsAllowedBy(session.api, workspaceId, domain, others)
  if (found === null) throw new Refused('not_found')
  return found
}

/** Calls of the last 7 days by entry, without entries that have no call. */
async function uses(
  { api }: Pick<UnlockedSession, 'api'>,
  { workspaceId, domains }: Of & { domains: readonly string[] },
) {
  const params = { workspace_id: workspaceId }
  const { hosts } = await api.call(getUsage, { params, query: { days: 7 } })
  return hostUses(domains, hosts)
}
