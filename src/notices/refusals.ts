/**
 * Announces the first refusal of an agent, host and code in an hour. A flood of refusals costs only look-ups in a map
 * of announced ones. Each agent has a limit per hour, because it chooses the hosts.
 */
import type { Clock } from '../core/clock.ts'
import { LruMap } from '../core/lru.ts'
import type { Notices } from './notices.ts'

type Refusal = {
  workspaceId: string
  tokenId: string
  registrationId: string | null
  /** The agent's name, or the label of a workload's token. */
  name: string
  host: string | null
  method: string | null
  secrets: readonly string[]
  code: string
}

/** Refusals that a person should review. Others are invalid requests. */
const ANNOUNCED = new Set([
  'domain_blocked',
  'address_blocked',
  'policy_blocked',
  'scope_required',
  'unknown_secret',
  'key_not_provisioned',
  'approval_denied',
])
const HOUR_MS = 3_600_000
const MAX_KNOWN = 10_000
/** Announced per agent, hour and process. */
const MAX_PER_AGENT = 20

export class RefusalNotices {
  readonly #notices: Notices
  readonly #clock: Clock
  readonly #known = new LruMap<string, true>({ max: MAX_KNOWN })
  readonly #counts = new LruMap<string, number>({ max: MAX_KNOWN })

  constructor(notices: Notices, clock: Clock) {
    this.#notices = notices
    this.#clock = clock
  }

  /** Does not wait. */
  note({ code, host, ...caller }: Refusal): void {
    if (!ANNOUNCED.has(code)) return
    const hour = Math.floor(this.#clock.now() / HOUR_MS)
    const agent = `${caller.registrationId ?? caller.tokenId}/${hour}`
    const cause = `call.refused/${agent}/${code}/${host ?? ''}`
    if (this.#known.get(cause)) return
    const count = this.#counts.get(agent) ?? 0
    if (count >= MAX_PER_AGENT) return
    this.#known.set(cause, true)
    this.#counts.set(agent, count + 1)
    const { workspaceId, name, method, secrets } = caller
    void this.#notices.announce(workspaceId, {
      event: 'call.refused',
      cause,
      fields: { agent: name, host: host ?? undefined, method: method ?? undefined, secrets, code },
    })
  }
}
