/** The text of a stored notice. People, agents and the database write its values, so each format escapes all. */
import { boundFields, cutText, type NoticeEvent, type NoticeFields } from './notice.ts'

/** A notice as it is stored. */
export type StoredNotice = {
  id: string
  event: string
  workspace: { id: string; name: string }
  createdAt: Date
  fields: NoticeFields
}

export type Message = {
  title: string
  /** Labels are constants; values are not. */
  lines: readonly (readonly [label: string, value: string])[]
  link: string | null
}

/** Sent by `notify test` only. */
export const TEST_EVENT = 'notice_target.test'

const TITLES: Record<NoticeEvent | typeof TEST_EVENT, string> = {
  'approval.requested': 'An agent asks for an approval',
  'approval.decided': 'An approval was decided',
  'proposal.created': 'An agent proposes a change',
  'call.refused': 'A call was refused',
  'token.expiring': 'A token expires soon',
  'reconnect.required': 'A credential must be connected again',
  'member.invited': 'A member was invited',
  'rekey.due': 'The workspace needs a rekey',
  'notice_target.deleted': 'A notice target was deleted',
  [TEST_EVENT]: 'This is a test notice',
}

const LABELS: readonly (readonly [keyof NoticeFields, string])[] = [
  ['agent', 'Agent'],
  ['token', 'Token'],
  ['member', 'Member'],
  ['method', 'Method'],
  ['host', 'Host'],
  ['secrets', 'Secrets'],
  ['project', 'Project'],
  ['environment', 'Environment'],
  ['code', 'Code'],
  ['expires_at', 'Expires'],
  ['command', 'Command'],
]

export function composeMessage(
  { event, workspace, fields }: StoredNotice,
  link: string | null,
): Message {
  const lines = LABELS.flatMap(([name, label]): [string, string][] => {
    const value = fields[name]
    if (value === undefined) return []
    return [[label, cutText(typeof value === 'string' ? value : value.join(', '))]]
  })
  return {
    title: Object.hasOwn(TITLES, event) ? TITLES[event as keyof typeof TITLES] : 'Notice',
    lines: [['Workspace', cutText(workspace.name)], ...lines],
    link,
  }
}

const TEXTS = [...LABELS.map(([name]) => name), 'page'] as const

/** The known fields of a stored body. A row inserted into the database cannot add others. */
export function readFields(body: unknown): NoticeFields {
  if (typeof body !== 'object' || body === null) return {}
  const stored = body as Record<string, unknown>
  const known = TEXTS.flatMap((name) => {
    const value = Object.hasOwn(stored, name) ? stored[name] : undefined
    const isNames = Array.isArray(value) && value.every((item) => typeof item === 'string')
    const isKnown = name === 'secrets' ? isNames : typeof value === 'string'
    return isKnown ? [[name, value]] : []
  })
  return boundFields(Object.fromEntries(known))
}

/** The address of a page of the console; `null` without SERVICE_SERVER_URL. */
export function linkTo(serverUrl: string | undefined, page: string | undefined): string | null {
  if (serverUrl === undefined || page === undefined || !/^\/[\w./~-]*$/.test(page)) return null
  return `${serverUrl}${page}`
}
