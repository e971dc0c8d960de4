/** The policy change that limits a secret to the host that a user allows for it. */
import type { RefusedCall } from '../../../client/agents/allowing.ts'
import { type EnvironmentPlace, readSecrets } from '../../../client/environment.ts'
import { domainMatches, parseDomain } from '../../../core/net/domain.ts'
import type { Policy } from '../../../core/policy/policy.ts'
import { summariseCalls } from '../../../features/audit/contract.ts'
import { environmentAt } from './places.ts'
import type { UnlockedSession } from './unlocked_session.ts'

/** Whether an entry of a list allows a host. Both have their port unless that is 443. */
function covers(entry: string, host: string): boolean {
  const [allowed, wanted] = [parseDomain(entry), parseDomain(host)]
  return allowed !== null && wanted !== null && domainMatches(allowed, wanted.host, wanted.port)
}

/** The host list of the call's secret, before and after the change. */
export type HostNarrowing = {
  projectId: string
  environment: string
  secret: string
  version: number
  before: readonly string[] | null
  after: readonly string[]
}

/** A record can name any secret, so a secret that is not stored is not narrowed. */
export async function limitFor(
  session: UnlockedSession,
  workspaceId: string,
  { project_id: projectId, environment, credential_ref: secret }: RefusedCall,
  host: string,
): Promise<{ narrowing: HostNarrowing | null; unlimited: number } | null> {
  if (!projectId || !environment) return null
  const place = await environmentAt(session, { workspaceId, projectId, environment })
  const secrets = await readSecrets(place)
  const hostsOf = ({ policy }: (typeof secrets)[number]) =>
    (policy as Policy | null)?.allowed_domains ?? null
  const unlimited = secrets.filter((each) => each.key !== secret && hostsOf(each) === null).length
  const stored = secrets.find(({ key }) => key === secret)
  if (!stored || !secret) return { narrowing: null, unlimited }
  const before = hostsOf(stored)
  if (before?.some((entry) => covers(entry, host))) return { narrowing: null, unlimited }
  const kept = before ?? (await hostsUsed(place, secret))
  if (kept === null) return { narrowing: null, unlimited }
  const after = [...new Set([...kept, host])]
  const { version } = stored
  return { narrowing: { projectId, environment, secret, version, before, after }, unlimited }
}

/** Hosts that calls with a secret reached in 7 days; null if there were more calls than are read. */
async function hostsUsed(
  { api, workspace, projectId, environment }: EnvironmentPlace,
  credential: string,
): Promise<string[] | null> {
  const query = { workspace_id: workspace.id, project_id: projectId, environment, credential }
  const { kinds, is_whole: isWhole } = await api.call(summariseCalls, { query })
  if (!isWhole) return null
  return kinds
    .filter(({ decision }) => decision === 'allowed')
    .flatMap(({ target_url }) => parseDomain(URL.parse(target_url)?.host ?? '')?.text ?? [])
}
