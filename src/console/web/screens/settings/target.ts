/** Names and types of notice targets, and the cache key of their list. */
import type { CallResult } from '../../../../client/http/api.ts'
import type {
  listNoticeTargets,
  noticeEvent,
  noticeTargetType,
} from '../../../../features/notices/contract.ts'
import { texts } from '../../texts/index.ts'

type Target = CallResult<typeof listNoticeTargets>[number]
type NoticeEvent = (typeof noticeEvent)['_output']
export type NoticeTargetType = (typeof noticeTargetType)['_output']

const words = texts.noticeTargets
/** Complete by their types. */
const events: Record<NoticeEvent, string> = words.events
const types: Record<NoticeTargetType, string> = words.types

export const targetEvents = Object.keys(events) as NoticeEvent[]
export const noticeTargetTypes = Object.keys(types) as NoticeTargetType[]

export const targetKey = (workspaceId: string) => ['notice_targets', workspaceId]

export function targetName({ type, host }: Pick<Target, 'type' | 'host'>): string {
  return words.named(types[type], host)
}
