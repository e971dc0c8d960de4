import { z } from 'zod'
import { line, pagination, timestamp, uuid } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { emptyBody, exampleId, id, integer, text, workspaceId } from '../../http/fields.ts'
import { noticeEvents } from '../../notices/notice.ts'
import { objectionToUrl, targetTypes } from '../../notices/target_url.ts'

const path = '/api/workspaces/{workspace_id}/notice-targets/'
const params = z.object({ workspace_id: workspaceId })
const targetId = uuid.meta({ examples: [exampleId(10)] })
const ofTarget = params.extend({ target_id: targetId })

const access = {
  kind: 'member',
  permission: 'notice.manage',
  tenant: 'path.workspace_id',
} as const

export const noticeEvent = z.enum(noticeEvents)
export const noticeTargetType = z.enum(targetTypes)

const events = z
  .array(noticeEvent)
  .min(1)
  .max(noticeEvents.length)
  .transform((names) => [...new Set(names)])
  .meta({ examples: [['approval.requested']] })

const target = z
  .object({
    id,
    type: noticeTargetType,
    host: text('hooks.example.com'),
    events: z.array(text('approval.requested')),
    created_at: timestamp,
  })
  .meta({ id: 'NoticeTarget' })

export const listNoticeTargets = defineEndpoint({
  name: 'notice_targets.list',
  summary: 'List notice targets, without their URLs',
  method: 'GET',
  path,
  access,
  params,
  query: pagination,
  result: z.array(target),
  paged: true,
})

export const createNoticeTarget = defineEndpoint({
  name: 'notice_targets.create',
  summary: 'Add a notice target',
  method: 'POST',
  path,
  quotas: ['noticeTargets'],
  access,
  params,
  body: z
    .strictObject({
      type: noticeTargetType.meta({ examples: ['webhook'] }),
      url: line(2_048, 1).meta({ examples: ['https://hooks.example.com/cloakroom'] }),
      events,
    })
    .superRefine(({ type, url }, context) => {
      const message = objectionToUrl(type, url)
      if (message !== null) context.addIssue({ code: 'custom', path: ['url'], message })
    }),
  result: target.extend({
    /** Only for a webhook, and shown once. */
    signing_key: text('mC1qFf1a…').nullable(),
  }),
  success: 201,
})

export const deleteNoticeTarget = defineEndpoint({
  name: 'notice_targets.delete',
  summary: 'Delete a notice target after one last notice',
  method: 'DELETE',
  path: `${path}{target_id}/`,
  access,
  params: ofTarget,
})

export const testNoticeTarget = defineEndpoint({
  name: 'notice_targets.test',
  summary: 'Queue a test notice',
  method: 'POST',
  path: `${path}{target_id}/test/`,
  access,
  params: ofTarget,
  body: emptyBody,
  bodyOptional: true,
  unrecorded: 'it changes nothing and is in the delivery log',
  result: z.object({ notice_id: id }),
  faults: ['quota_exceeded'],
})

export const listNotices = defineEndpoint({
  name: 'notices.list',
  summary: 'List the notices of the last 7 days, newest first',
  method: 'GET',
  path: '/api/workspaces/{workspace_id}/notices/',
  access,
  params,
  query: pagination.extend({ target_id: targetId.optional() }),
  result: z.array(
    z
      .object({
        id,
        target_id: id,
        event: text('call.refused'),
        status: z.enum(['queued', 'delivered', 'failed']),
        attempts: integer(1),
        /** A status such as `http_500`, or a code. */
        last_error: text('http_500').nullable(),
        created_at: timestamp,
        attempted_at: timestamp.nullable(),
        /** Only for a queued notice. */
        next_attempt_at: timestamp.nullable(),
      })
      .meta({ id: 'Notice' }),
  ),
  paged: true,
})
