/** Where agents may send: what was signed, where the workspace is, and what its rows say where it is not. */
import { allowHosts, disallowHost, readAllowlist } from '../../../../client/actions/allowlist.ts'
import type { CallResult } from '../../../../client/http/api.ts'
import {
  canonicalName,
  type Domain,
  domainMatches,
  parseDomain,
} from '../../../../core/net/domain.ts'
import { listAuditLogs, summariseAudit } from '../../../../features/audit/contract.ts'
import { Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import { placeIn } from '../places.ts'

export const allowlistCommands = { list, add, remove, calls }

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

/** Records that are read of each host, and hosts below a wildcard that are looked at. */
const MOST_RECORDS = 500
const MOST_HOSTS = 20

/**
 * The calls of the last seven days that the entry allowed: those would be refused without it. The audit is searched by
 * host name, and each record's URL has the port.
 */
async function calls(
  { api }: Pick<HeldKeys, 'api'>,
  { workspaceId, domain }: Of & { domain: string },
) {
  const entry = parseDomain(domain)
  if (entry === null) throw new Refused('not_found')
  const hosts = entry.wildcard ? await hostsBelow(api, workspaceId, entry) : [entry.host]
  const read = (host: string) => {
    const query = { workspace_id: workspaceId, domain: host, since: '7d', limit: MOST_RECORDS }
    return api.call(listAuditLogs, { query })
  }
  const pages = await Promise.all(hosts.slice(0, MOST_HOSTS).map(read))
  const passed = pages.flat().filter((record) => isAllowedBy(entry, record))
  const distinct = (names: (string | null)[]) => [
    ...new Set(names.flatMap((name) => name?.split(',') ?? [])),
  ]
  return {
    calls: passed.length,
    isWhole: hosts.length <= MOST_HOSTS && pages.every((page) => page.length < MOST_RECORDS),
    agents: distinct(passed.map(({ agent_id }) => agent_id)),
    secrets: distinct(passed.map(({ credential_ref }) => credential_ref)),
  }
}

async function hostsBelow(api: HeldKeys['api'], workspaceId: string, entry: Domain) {
  const query = { workspace_id: workspaceId, since: '7d' }
  const { by_domain } = await api.call(summariseAudit, { query })
  return by_domain
    .map(({ domain }) => domain)
    .filter((host) => domainMatches(entry, host, entry.port))
}

type AuditRecord = CallResult<typeof listAuditLogs>[number]

/** A record without a URL does not say which port was called, so it counts for every port. */
function isAllowedBy(entry: Domain, { reason, target_url, target_domain }: AuditRecord): boolean {
  if (reason === 'domain_blocked') return false
  const url = target_url === null ? null : URL.parse(target_url)
  if (url === null) return target_domain !== null && domainMatches(entry, target_domain, entry.port)
  const port = url.port === '' ? HTTPS_PORT : Number(url.port)
  return domainMatches(entry, canonicalName(url.hostname) ?? '', port)
}

const HTTPS_PORT = 443
