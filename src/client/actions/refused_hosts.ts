/** The hosts that agents were refused lately, because the allowlist does not have them. */
import { domainMatches, parseDomain } from '../../core/net/domain.ts'
import { listAuditLogs } from '../../features/audit/contract.ts'
import type { CallResult } from '../http/api.ts'
import type { WorkspacePlace } from '../workspace.ts'
import { HTTPS_PORT, hostOf, listKnownHosts } from './allowlist.ts'

/** Refused calls that are read, the newest. */
const MOST_CALLS = 500

export type RefusedHost = {
  /** As the allowlist writes it: with the port where that is not 443. */
  host: string
  agent: string
  registrationId: string | null
  calls: number
  secrets: string[]
  firstAt: string
  newest: AuditRecord
}

type AuditRecord = CallResult<typeof listAuditLogs>[number]

/** By host and agent, the newest first. Hosts that are now allowed are omitted. */
export async function readRefusedHosts(
  place: WorkspacePlace,
  since: string,
): Promise<RefusedHost[]> {
  const { api, workspace } = place
  const query = {
    ...{ workspace_id: workspace.id, since, limit: MOST_CALLS },
    decision: 'blocked' as const,
  }
  const [records, allowed] = await Promise.all([
    api.call(listAuditLogs, { query }),
    listKnownHosts(place),
  ])
  const entries = allowed.flatMap((text) => parseDomain(text) ?? [])
  const refused = records.flatMap((record) => {
    const { name, port } = targetOf(record)
    if (record.reason !== 'domain_blocked' || !name) return []
    if (entries.some((entry) => domainMatches(entry, name, port))) return []
    return [{ record, host: port === HTTPS_PORT ? name : `${name}:${port}` }]
  })
  const groups = Map.groupBy(refused, ({ host, record: { registration_id, agent_id } }) =>
    JSON.stringify([host, registration_id ?? agent_id]),
  )
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const { host, record: newest } = first
    const calls = [newest, ...others.map(({ record }) => record)]
    const secrets = calls.flatMap(({ credential_ref }) => credential_ref?.split(',') ?? [])
    return [
      {
        ...{ host, agent: newest.agent_id, registrationId: newest.registration_id },
        ...{ calls: calls.length, secrets: [...new Set(secrets)] },
        ...{ firstAt: calls.at(-1)?.timestamp ?? newest.timestamp, newest },
      },
    ]
  })
}

function targetOf(record: { target_url: string | null; target_domain: string | null }) {
  const url = record.target_url === null ? null : URL.parse(record.target_url)
  return url === null ? { name: record.target_domain, port: HTTPS_PORT } : hostOf(url)
}
