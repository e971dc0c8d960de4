/** Where agents may send: what was signed, where the workspace is, and what its rows say where it is not. */
import { allowlistChange, signedAllowlist } from '../../../../client/signed/allowlist.ts'
import { signChange } from '../../../../client/signed/sign_change.ts'
import { signingOf } from '../../../../client/vault.ts'
import {
  addToAllowlist,
  listAllowlist,
  removeFromAllowlist,
} from '../../../../features/allowlist/contract.ts'
import { listAuditLogs, summariseAudit } from '../../../../features/audit/contract.ts'
import type { Held } from '../held.ts'
import { workspaceOf } from '../places.ts'

type Of = { workspaceId: string }

/** `seq` is the number of the link that allows it; null where nobody signs. */
export async function list(held: Held, { workspaceId }: Of) {
  const { open } = await workspaceOf(held, workspaceId)
  const signing = signingOf(open)
  const read = () => held.api.list(listAllowlist, { params: { workspace_id: workspaceId } })
  if (signing) {
    const { entries, ...misstated } = await signedAllowlist(signing.chains, open, read)
    return { isSigned: true, entries: entries as Entry[], ...misstated }
  }
  const rows = await read()
  const entries = rows.map(({ domain, added_by_email: by, added_at: at }): Entry => {
    return { domain, by, at, seq: null }
  })
  return { isSigned: false, entries, unsigned: [], leftOut: [] }
}

export type Entry = { domain: string; by: string | null; at: string; seq: number | null }

export async function add(held: Held, { workspaceId, domain }: Of & { domain: string }) {
  const params = { workspace_id: workspaceId }
  const added = await change(held, workspaceId, { add: [domain] }, (link) =>
    held.api.call(addToAllowlist, { params, body: { domains: [domain], link } }),
  )
  return { isNew: added.length > 0 }
}

export async function remove(held: Held, { workspaceId, domain }: Of & { domain: string }) {
  const params = { workspace_id: workspaceId, domain }
  await change(held, workspaceId, { remove: [domain] }, (link) =>
    held.api.call(removeFromAllowlist, { params, body: { link } }),
  )
}

async function change<T>(
  held: Held,
  workspaceId: string,
  what: Parameters<typeof allowlistChange>[1],
  send: Parameters<typeof signChange<T>>[2],
): Promise<T> {
  const { open } = await workspaceOf(held, workspaceId)
  const signing = signingOf(open)
  if (signing === null) return send(undefined, null)
  return signChange(signing, (chain) => allowlistChange(chain, what), send)
}

/** Calls that are looked at. */
const LOOKED_AT = 100

/** Who called it in the last seven days, and with what: that is what would be refused without it. */
export async function calls(held: Held, { workspaceId, domain }: Of & { domain: string }) {
  if (domain.startsWith('*.')) return callsBelow(held, workspaceId, domain)
  const query = { workspace_id: workspaceId, domain, since: '7d', limit: LOOKED_AT }
  const found = await held.api.call(listAuditLogs, { query })
  const passed = found.filter(({ reason }) => reason !== 'domain_blocked')
  const distinct = (names: (string | null)[]) => [
    ...new Set(names.flatMap((name) => name?.split(',') ?? [])),
  ]
  return {
    calls: passed.length,
    isWhole: found.length < LOOKED_AT,
    agents: distinct(passed.map(({ agent_id }) => agent_id)),
    secrets: distinct(passed.map(({ credential_ref }) => credential_ref)),
  }
}

/** Of a wildcard only how many: the audit is not searched by the end of a name. */
async function callsBelow({ api }: Held, workspaceId: string, domain: string) {
  const query = { workspace_id: workspaceId, since: '7d' }
  const { by_domain } = await api.call(summariseAudit, { query })
  const suffix = domain.slice(1).replace(/:\d+$/, '')
  const below = by_domain.filter((entry) => entry.domain.endsWith(suffix))
  const sum = below.reduce((all, { count }) => all + count, 0)
  return { calls: sum, isWhole: true, agents: [], secrets: [] }
}
