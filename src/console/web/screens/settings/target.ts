/** What a notice target is called, and where the list of them is kept. */
import type { CallResult } from '../../../../client/http/api.ts'
import type { listNoticeTargets } from '../../../../features/notices/contract.ts'
import { texts } from '../../texts/index.ts'

type Target = CallResult<typeof listNoticeTargets>[number]

export const targetKey = (workspaceId: string) => ['notice_targets', workspaceId]

export function targetName({ type, host }: Pick<Target, 'type' | 'host'>): string {
  const { named, types } = texts.noticeTargets
  return named(types[type], host)
}
