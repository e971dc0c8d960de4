/** Reads and changes the allowed hosts of a workspace, in a signed one by its links, with the calls of each entry. */
import { type Domain, domainMatches, parseDomain, toCanonicalName } from '../../core/net/domain.ts'
import {
  addToAllowlist,
  listAllowlist,
  removeFromAllowlist,
} from '../../features/allowlist/contract.ts'
import { listAuditLogs, summariseAudit } from '../../features/audit/contract.ts'
import type { getUsage } from '../../features/usage/contract.ts'
import type { Link } from '../../sigchain/index.ts'
import type { Api, CallResult } from '../http/api.ts'
import { emailsIn } from '../signed/link_in_words.ts'
import type { Judge } from '../signed/sign_change.ts'
import type { WorkspacePlace } from '../workspace.ts'

/** Allowed in the order in which they were. */
export async function readAllowlist({ api, workspace }: WorkspacePlace) {
  const { id, chains } = workspace
  const before = await workspace.chain()
  const rows = await api.list(listAllowlist, { params: { workspace_id: id } })
  if (!chains || !before) return { entries: rows, unsigned: [], leftOut: [] }
  const allowed = findLastAllowed(await chains.history(workspace))
  const entries = [...allowed].map(([domain, signed]) => ({ domain, ...signed }))
  return { entries, ...findMisstatedHosts(before.allowlist, allowed, rows) }
}

/** Every host that is signed or listed. */
export async function listKnownHosts({ api, workspace }: WorkspacePlace): Promise<string[]> {
  const rows = await api.list(listAllowlist, { params: { workspace_id: workspace.id } })
  const signed = (await workspace.chain())?.allowlist ?? []
  return [...new Set([...signed, ...rows.map(({ domain }) => domain)])]
}

/** The hosts that no entry covers. */
export async function listUncoveredHosts(
  place: WorkspacePlace,
  hosts: readonly string[],
): Promise<string[]> {
  const known = (await listKnownHosts(place)).flatMap((text) => parseDomain(text) ?? [])
  return [...new Set(hosts)].filter((text) => {
    const wanted = parseDomain(text)
    if (wanted === null) return true
    if (known.some((entry) => entry.text === wanted.text)) return false
    return wanted.wildcard || !known.some((entry) => domainMatches(entry, wanted.host, wanted.port))
  })
}

/** Returns the newly allowed hosts. @throws ApiError, UntrustedChain */
export function allowHosts({ api, workspace }: WorkspacePlace, domains: string[]) {
  const params = { workspace_id: workspace.id }
  return workspace.change(judgeOf({ add: domains }), (link) =>
    api.call(addToAllowlist, { params, body: { domains, link } }),
  )
}

/** @throws ApiError, UntrustedChain */
export function disallowHost({ api, workspace }: WorkspacePlace, domain: string) {
  const params = { workspace_id: workspace.id, domain }
  return workspace.change(judgeOf({ remove: [domain] }), (link) =>
    api.call(removeFromAllowlist, { params, body: { link } }),
  )
}

type AllowlistChange = { add?: readonly string[]; remove?: readonly string[] }

/** Null where the change is made already. */
function judgeOf({ add = [], remove = [] }: AllowlistChange): Judge {
  return ({ allowlist }) => {
    const body = {
      add: toCanonicalDomains(add).filter((domain) => !allowlist.has(domain)),
      remove: toCanonicalDomains(remove).filter((domain) => allowlist.has(domain)),
    }
    return body.add.length + body.remove.length === 0 ? null : { type: 'allowlist.changed', body }
  }
}

/** Normalised and unique. The server rejects invalid hosts. */
function toCanonicalDomains(domains: readonly string[]): string[] {
  return [...new Set(domains.flatMap((domain) => parseDomain(domain)?.text ?? []))]
}

type AllowedBy = { seq: number; added_at: string; added_by_email: string }

/** With which link each domain was allowed last, from the links of a verified chain. */
function findLastAllowed(links: readonly Link[]): Map<string, AllowedBy> {
  const emails = emailsIn(links)
  const allowed = new Map<string, AllowedBy>()
  for (const { type, body, seq, at, signer } of links) {
    if (type !== 'allowlist.changed') continue
    for (const domain of body.remove) allowed.delete(domain)
    for (const domain of body.add)
      allowed.set(domain, { seq, added_at: at, added_by_email: emails.get(signer) ?? signer })
  }
  return allowed
}

/**
 * Listed hosts that nobody signed, which allow no calls, and omitted hosts, which still do. Concurrent changes count as
 * neither: `before` is the signed list before the read.
 */
function findMisstatedHosts(
  before: ReadonlySet<string>,
  allowed: ReadonlyMap<string, AllowedBy>,
  rows: readonly { domain: string }[],
) {
  const listed = new Set(rows.map(({ domain }) => domain))
  return {
    unsigned: [...listed].filter((domain) => !before.has(domain) && !allowed.has(domain)),
    leftOut: [...before].filter((domain) => allowed.has(domain) && !listed.has(domain)),
  }
}

/** Records that are read of each host, and hosts below a wildcard that are looked at. */
const MOST_RECORDS = 500
const MOST_HOSTS = 20

/**
 * The calls of the last seven days that only this entry allowed, so they would be refused without it. The audit is
 * searched by host name, and each record's URL has the port. Null for an invalid entry.
 */
export async function callsAllowedBy(
  api: Api,
  workspaceId: string,
  domain: string,
  others: readonly string[] = [],
) {
  const entry = parseDomain(domain)
  if (entry === null) return null
  const hosts = entry.wildcard ? await hostsBelow(api, workspaceId, entry) : [entry.host]
  const read = (host: string) => {
    const query = { workspace_id: workspaceId, domain: host, since: '7d', limit: MOST_RECORDS }
    return api.call(listAuditLogs, { query })
  }
  const pages = await Promise.all(hosts.slice(0, MOST_HOSTS).map(read))
  const rest = others.flatMap((text) => (text === domain ? [] : (parseDomain(text) ?? [])))
  const passed = pages
    .flat()
    .filter(
      (record) => isAllowedBy(entry, record) && !rest.some((other) => isAllowedBy(other, record)),
    )
  return {
    calls: passed.length,
    isWhole: hosts.length <= MOST_HOSTS && pages.every((page) => page.length < MOST_RECORDS),
    agents: tally(passed.map(({ agent_id }) => agent_id)),
    secrets: tally(passed.flatMap(({ credential_ref }) => credential_ref?.split(',') ?? [])),
  }
}

/** The most frequent first. */
function tally(names: readonly string[]): { name: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((one, other) => other.count - one.count)
}

async function hostsBelow(api: Api, workspaceId: string, entry: Domain) {
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
  const { name, port } = hostOf(url)
  return domainMatches(entry, name, port)
}

type HostUse = CallResult<typeof getUsage>['hosts'][number]

/** By entry: calls per day, and the last call. Entries without calls are omitted. */
export function hostUses(domains: readonly string[], hosts: readonly HostUse[]) {
  const uses = new Map<string, Omit<HostUse, 'host'>>()
  const called = hosts.flatMap(({ host, ...use }) => {
    const url = URL.parse(`https://${host}`)
    return url ? [{ ...hostOf(url), use }] : []
  })
  for (const domain of domains) {
    const entry = parseDomain(domain)
    const matching = called.filter(({ name, port }) => entry && domainMatches(entry, name, port))
    const [first, ...others] = matching.map(({ use }) => use)
    if (first) uses.set(domain, others.reduce(addUses, first))
  }
  return uses
}

function addUses(one: Omit<HostUse, 'host'>, other: Omit<HostUse, 'host'>) {
  const add = (counts: readonly number[], more: readonly number[]) =>
    counts.map((count, at) => count + (more[at] ?? 0))
  return {
    calls: add(one.calls, other.calls),
    blocked: add(one.blocked, other.blocked),
    last_used_at: one.last_used_at > other.last_used_at ? one.last_used_at : other.last_used_at,
  }
}

/** As entries of the allowlist name it. */
export function hostOf({ hostname, port }: URL): { name: string; port: number } {
  return {
    name: toCanonicalName(hostname) ?? '',
    port: port === '' ? HTTPS_PORT : Number(port),
  }
}

export const HTTPS_PORT = 443
