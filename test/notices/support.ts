/** A workspace with notice targets at an upstream of the test. */
import { createHmac } from 'node:crypto'
import {
  createNoticeTarget,
  listNotices,
  testNoticeTarget,
} from '../../src/features/notices/contract.ts'
import { type NoticeEvent, noticeEvents } from '../../src/notices/notice.ts'
import type { TargetType } from '../../src/notices/target_url.ts'
import type { Stage } from '../support/agent.ts'
import type { FakeTimers } from '../support/fake_timers.ts'
import { openTeam } from '../support/teams.ts'
import { until } from '../support/until.ts'

export async function openNoticeTeam(stage: Stage, timers: FakeTimers) {
  const team = await openTeam(stage.app)
  const { workspaceId } = team
  const { api } = team.owner
  const params = { workspace_id: workspaceId }
  const add = (
    path: string,
    { type = 'webhook', events = [...noticeEvents], host }: AddOptions = {},
  ) =>
    api.call(createNoticeTarget, {
      params,
      body: { type, url: stage.url(path, host), events },
    })
  const log = async (target_id?: string) =>
    (await api.list(listNotices, { params, query: target_id ? { target_id } : {} })).map(
      ({ event, status, attempts, last_error }) => ({ event, status, attempts, last_error }),
    )
  const test = (id: string) =>
    api.call(testNoticeTarget, { params: { ...params, target_id: id }, body: {} })
  /** Lets the sender check the queue, and waits until `isDone`. */
  const send = (isDone: () => boolean | Promise<boolean>) =>
    until(async () => {
      await timers.advance(15_000)
      return isDone()
    })
  const received = (path: string) =>
    stage.upstream.received.filter((request) => request.path === path)
  return { ...team, api, params, add, log, test, send, received }
}

type AddOptions = { type?: TargetType; events?: NoticeEvent[]; host?: string }

/** Verifies the way the documentation describes for a receiver. */
export function isSigned(key: string, header: string | undefined, body: Uint8Array): boolean {
  const [, time = '', mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? []
  return createHmac('sha256', key).update(`${time}.`).update(body).digest('hex') === mac
}
