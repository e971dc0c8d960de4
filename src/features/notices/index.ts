/** Notice targets: owners and admins configure targets, and see the delivery log (protocol 14.5). */
import { queueQuotas } from '../../core/config/quotas.ts'
import { generateRandomBytes } from '../../core/crypto/random.ts'
import { Fault } from '../../core/fault.ts'
import type { Grant } from '../../core/grant.ts'
import { quotaFault, requireQuota } from '../../database/limits/quota.ts'
import type { Transaction } from '../../database/open.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import type { AuditAction, Change } from '../../http/recorder.ts'
import { replyCreated } from '../../http/reply.ts'
import { type Changing, listRoute, type Route, route } from '../../http/route.ts'
import { endTarget, queueFor } from '../../notices/direct.ts'
import { TEST_EVENT } from '../../notices/message.ts'
import type { NoticeEvent } from '../../notices/notice.ts'
import { sealTarget } from '../../notices/target.ts'
import type { TargetType } from '../../notices/target_url.ts'
import { parseTarget } from '../../outbound/target.ts'
import type { SignedServices } from '../links/index.ts'
import {
  createNoticeTarget,
  deleteNoticeTarget,
  listNotices,
  listNoticeTargets,
  testNoticeTarget,
} from './contract.ts'
import { countQueued, insertTarget, lockTarget, selectNotices, selectTargets } from './queries.ts'

const KEY_BYTES = 32

type Manage = Grant<'notice.manage'>
type Chosen = { type: TargetType; url: string; events: NoticeEvent[] }

export function noticeRoutes(services: SignedServices): Route[] {
  return [
    listRoute(listNoticeTargets, ({ tx, grant }) => ({
      name: 'notice_targets',
      read: (page) => selectTargets(tx, grant, page),
      sortKey: ({ id }) => [id],
    })),
    route(createNoticeTarget, ({ body, ...changing }) => create(changing, services, body)),
    route(deleteNoticeTarget, ({ params, ...changing }) =>
      remove(changing, services, params.target_id),
    ),
    route(testNoticeTarget, ({ tx, grant, params }) =>
      queueTest(tx, grant, services, params.target_id),
    ),
    listRoute(listNotices, ({ tx, grant, query }) => ({
      name: `notices ${query.target_id ?? ''}`,
      read: (page) => selectNotices(tx, grant, page, query.target_id),
      sortKey: ({ created_at, id }) => [created_at.toISOString(), id],
      open: (rows) =>
        rows.map(({ next_at, ...row }) => ({
          ...row,
          next_attempt_at: row.status === 'queued' ? next_at : null,
        })),
    })),
  ]
}

async function create(
  { tx, grant, audit }: Changing<Manage>,
  { outer, config }: SignedServices,
  { type, url, events }: Chosen,
) {
  const id = Bun.randomUUIDv7()
  const { host } = parseTarget(url)
  const key =
    type === 'webhook' ? Buffer.from(generateRandomBytes(KEY_BYTES)).toString('base64url') : null
  const place = { workspaceId: grant.workspaceId, targetId: id }
  const secret = await sealTarget(outer, place, { type, url, key })
  await lockWorkspace(tx, grant)
  audit.record(change('notice_target.created', { id, type, host }))
  const target = await insertTarget(tx, grant, { id, type, host, events, secret })
  await requireQuota(tx, config, 'noticeTargets', grant.workspaceId)
  if (!target) throw new Fault('conflict')
  return replyCreated({ ...target, signing_key: key })
}

async function remove(
  { tx, grant, audit }: Changing<Manage>,
  { notices }: SignedServices,
  targetId: string,
): Promise<undefined> {
  const { workspaceId, email } = grant
  const target = await lockTarget(tx, grant, targetId)
  if (!target) throw new Fault('not_found')
  audit.record(change('notice_target.deleted', target))
  const event = 'notice_target.deleted' as const
  const notice = {
    event,
    cause: `${event}/${targetId}`,
    fields: { host: target.host, member: email },
  }
  await notices.announce(workspaceId, notice, tx)
  await endTarget(tx, { ...notice, id: Bun.randomUUIDv7(), workspaceId, targetId })
}

async function queueTest(
  tx: Transaction,
  grant: Manage,
  { notices, config }: SignedServices,
  targetId: string,
) {
  const { workspaceId, email } = grant
  if (!(await lockTarget(tx, grant, targetId))) throw new Fault('not_found')
  const most = config.QUOTA_NOTICES
  if ((await countQueued(tx, grant, targetId)) >= most)
    throw quotaFault({ ...queueQuotas.notices, remedy: 'Wait, or delete the target' }, most)
  const id = Bun.randomUUIDv7()
  const fields = { member: email }
  const test = {
    id,
    workspaceId,
    targetId,
    event: TEST_EVENT,
    cause: `test/${id}`,
    fields,
  } as const
  await queueFor(tx, test)
  notices.wake()
  return { notice_id: id }
}

function change(
  action: AuditAction,
  { id, type, host }: { id: string; type: string; host: string },
): Change {
  return { action, resource: { type: 'notice_target', id, name: `${type} ${host}` } }
}
