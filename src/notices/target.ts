/**
 * Where notices are sent. The URL and the signing key are secrets: a Slack URL alone lets its holder post. They are stored
 * under the outer layer, bound to the target's row, so that a row that was written into the database leads nowhere.
 */
import { fromUtf8, utf8 } from '../core/crypto/encoding.ts'
import type { OuterLayer } from '../core/crypto/outer_layer.ts'
import { Fault } from '../core/fault.ts'
import { parseTarget } from '../outbound/target.ts'

export const targetTypes = ['webhook', 'slack', 'discord', 'ntfy'] as const
export type TargetType = (typeof targetTypes)[number]

export const MAX_URL_BYTES = 2_048

/** The stored secret of a target. Only webhooks have a key. */
export type TargetSecret = { type: TargetType; url: string; key: string | null }

type Row = { workspaceId: string; targetId: string }

const COLUMN = 'notice_targets.secret'

/** The reason why a URL cannot be one of a target, without the URL; `null` for a good one. */
export function objectionToUrl(type: TargetType, url: string): string | null {
  if (Buffer.byteLength(url) > MAX_URL_BYTES) return `must have at most ${MAX_URL_BYTES} bytes`
  try {
    parseTarget(url)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return error.message.replace(/^target_url /, '').replace(/\.$/, '')
  }
  if (type !== 'ntfy' || topicOf(url) !== null) return null
  return 'must end in a topic, such as https://ntfy.sh/my-topic'
}

/** The server's address and the topic of an ntfy URL. A server may have a path of its own. */
export function topicOf(url: string): { server: string; topic: string } | null {
  const { origin, pathname, search } = new URL(url)
  const [, path = '', topic] = /^(.*\/)([\w-]{1,64})$/.exec(pathname) ?? []
  return topic === undefined ? null : { server: `${origin}${path}${search}`, topic }
}

export function sealTarget(outer: OuterLayer, row: Row, secret: TargetSecret): Promise<Uint8Array> {
  const { workspaceId, targetId } = row
  return outer.seal(COLUMN, workspaceId, [{ uuid: targetId }], utf8(JSON.stringify(secret)))
}

/** `null` if the stored bytes are not what this server sealed for that row and type. */
export async function openTarget(
  outer: OuterLayer,
  { workspaceId, targetId, type }: Row & { type: string },
  stored: Uint8Array,
): Promise<TargetSecret | null> {
  const bytes = await outer.open(COLUMN, workspaceId, [{ uuid: targetId }], stored)
  if (bytes === null) return null
  const secret = JSON.parse(fromUtf8(bytes) ?? 'null') as TargetSecret | null
  return secret?.type === type ? secret : null
}
