/** Where agents may send: what was signed, where the workspace is, and what its rows say where it is not. */
import {
  allowHosts,
  callsAllowedBy,
  disallowHost,
  hostUses,
  knownHosts,
  readAllowlist,
} from '../../../../client/actions/allowlist.ts'
import { getUsage } from '../../../../features/usage/contract.ts'
import { Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import { placeIn } from '../places.ts'

export const allowlistCommands = { list, add, remove, calls, uses }

type Of = { workspaceId: string }

/** `seq` is the number of the link that allows it; null where nobody signs. */
async function list(held: HeldKeys, { workspaceId }: Of) {
  const place = await placeIn(held, workspaceId)
  const { entries, ...misstated } = await readAllowlist(place)
  const listed = entries.map((entry): HostEntry => {
    const { domain, added_by_email: by, added_at: at } = entry
    return { domain, by, at, seq: 'seq' in entry ? entry.seq : null }
  })
  return { isSigned: place.workspace.chains !== null, entries: listed, ...misstated }
}

export type HostEntry = { domain: string; by: string | null; at: string; seq: number | null }

async function add(held: HeldKeys, { workspaceId, domain }: Of & { domain: string }) {
  const added = await allowHosts(await placeIn(held, workspaceId), [domain])
  return { isNew: added.length > 0 }
}

async function remove(held: HeldKeys, { workspaceId, domain }: Of & { domain: string }) {
  await disallowHost(await placeIn(held, workspaceId), domain)
}

/** The calls of the last seven days that no other entry allows. */
async function calls(held: HeldKeys, { workspaceId, domain }: Of & { domain: string }) {
  const others = await knownHosts(await placeIn(held, workspaceId))
  const found = await callsAllowedBy(held.api, workspaceId, domain, others)
  if (found === null) throw new Refused('not_found')
  return found
}

/** Calls of the last seven days by entry; entries without a call are left out. */
async function uses(
  { api }: Pick<HeldKeys, 'api'>,
  { workspaceId, domains }: Of & { domains: readonly string[] },
) {
  const params = { workspace_id: workspaceId }
  const { hosts } = await api.call(getUsage, { params, query: { days: 7 } })
  return hostUses(domains, hosts)
}
