/**
 * A notice informs people outside of the product about an event (protocol 14.5). It has names, hosts and links, and
 * never values, bodies, queries or paths of calls. Notices cannot make decisions.
 */
import { printable } from '../core/printable.ts'

export const noticeEvents = [
  'approval.requested',
  'approval.decided',
  'proposal.created',
  'call.refused',
  'token.expiring',
  'reconnect.required',
  'member.invited',
  'rekey.due',
  'notice_target.deleted',
] as const
export type NoticeEvent = (typeof noticeEvents)[number]

export type NoticeFields = {
  agent?: string | undefined
  /** The token's label, never the token. */
  token?: string | undefined
  host?: string | undefined
  method?: string | undefined
  /** Names of secrets. */
  secrets?: readonly string[] | undefined
  /** A fault's code, or a decision. */
  code?: string | undefined
  /** A member's e-mail address. */
  member?: string | undefined
  project?: string | undefined
  environment?: string | undefined
  /** A path of the console, such as `/approvals`. It becomes `link` if SERVICE_SERVER_URL is set. */
  page?: string | undefined
  /** A command that shows more, such as `cloakroom approvals list`. */
  command?: string | undefined
  expires_at?: string | undefined
}

export type Notice = {
  event: NoticeEvent
  /**
   * The occurrence, such as `approval.requested/<id>`. A target gets one notice per cause, so a cause that may return
   * has a time or an id in it.
   */
  cause: string
  fields: NoticeFields
}

export const MAX_CAUSE = 300
const MAX_TEXT = 200
const MAX_NAMES = 20

/** The fields as they are stored: cut to bounds, without controls and characters that change the reading order. */
export function boundFields(fields: NoticeFields): NoticeFields {
  const entries = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || value.length === 0 ? [] : [[name, boundValue(value)]],
  )
  return Object.fromEntries(entries)
}

function boundValue(value: string | readonly string[]): string | string[] {
  if (typeof value === 'string') return cutText(value)
  const names = value.slice(0, MAX_NAMES).map((name) => cutText(name))
  const left = value.length - names.length
  return left > 0 ? [...names, `and ${left} more`] : names
}

/** Cut between characters, so that no half of a surrogate pair is left. */
export function cutText(text: string, most = MAX_TEXT): string {
  const characters = [...printable(text.slice(0, most * 2).toWellFormed())]
  const isWhole = text.length <= most * 2 && characters.length <= most
  return isWhole ? characters.join('') : `${characters.slice(0, most - 1).join('')}…`
}
