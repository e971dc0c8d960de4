/** Requests to use held secrets (protocol 14.2), and the calls that wait for them. */
import type postgres from 'postgres'
import type { Timers } from '../core/async/timers.ts'
import type { OuterLayer } from '../core/crypto/outer_layer.ts'
import type { Log } from '../core/log.ts'
import { LruMap } from '../core/lru.ts'
import type { Notice } from '../notices/notice.ts'
import type { Notices } from '../notices/notices.ts'
import { type NewRequest, RequestStore } from './request_store.ts'
import { Waiters } from './waiters.ts'

type Parts = {
  sql: postgres.Sql
  outer: OuterLayer
  timers: Timers
  log: Log
  notices: Notices
}

/** Remembered releases that were used: more than a process sees in the 15 minutes of their validity. */
const MAX_USED = 100_000

export class Approvals {
  readonly waiters: Waiters
  readonly #store: RequestStore
  readonly #outer: OuterLayer
  readonly #notices: Notices
  /** Whether the release was for this call. A database that forgets a use cannot repeat it. */
  readonly #used = new LruMap<string, string>({ max: MAX_USED })

  constructor({ sql, outer, timers, log, notices }: Parts) {
    this.#store = new RequestStore(sql)
    this.#outer = outer
    this.#notices = notices
    this.waiters = new Waiters({ timers, log, decided: (ids) => this.#store.listDecided(ids) })
  }

  lookUp: RequestStore['lookUp'] = (asked, policyVersion) =>
    this.#store.lookUp(asked, policyVersion)

  /** Returns false if an equal one was already stored. @throws Fault `rate_limited` */
  async request(request: NewRequest): Promise<boolean> {
    const { id, workspaceId } = request
    const row = [{ uuid: id }]
    const details = await this.#outer.seal('approvals.details', workspaceId, row, request.details)
    const isNew = (await this.#store.insert({ ...request, details })) === 'inserted'
    if (isNew) await this.#notices.announce(workspaceId, buildRequestNotice(request))
    return isNew
  }

  /** Whether this process has seen another call use a release. */
  isUsed(id: string, callId: string): boolean {
    const usedBy = this.#used.get(id)
    return usedBy !== undefined && usedBy !== callId
  }

  /** Remembers that a release ended, even if the database later reports otherwise. */
  noteEnded(id: string): void {
    if (this.#used.get(id) === undefined) this.#used.set(id, 'another')
  }

  /** Uses a release for one call. Returns whether it is this call's. */
  async claim(id: string, callId: string): Promise<boolean> {
    if (this.isUsed(id, callId)) return false
    const isClaimed = await this.#store.claim(id, callId)
    if (isClaimed || this.#used.get(id) === undefined)
      this.#used.set(id, isClaimed ? callId : 'another')
    return isClaimed
  }

  close(): void {
    this.waiters.close()
  }
}

function buildRequestNotice({ id, workspaceId, agent, host, method, secrets }: NewRequest): Notice {
  const fields = {
    ...{ agent, host, method },
    secrets: secrets.map(({ key }) => key),
    page: `/console/w/${workspaceId}/live`,
    command: `cloakroom approvals show ${id}`,
  }
  return { event: 'approval.requested', cause: `approval.requested/${id}`, fields }
}
