/** The kinds of targets, and the rules for their URLs. */
import { utf8 } from '../core/crypto/encoding.ts'
import { Fault } from '../core/fault.ts'
import { parseTarget } from '../outbound/target.ts'

export const targetTypes = ['webhook', 'slack', 'discord', 'ntfy'] as const
export type TargetType = (typeof targetTypes)[number]

const MAX_URL_BYTES = 2_048

/** The reason why a URL cannot be one of a target, without the URL; `null` for a valid one. */
export function objectionToUrl(type: TargetType, url: string): string | null {
  if (utf8(url).length > MAX_URL_BYTES) return `must have at most ${MAX_URL_BYTES} bytes`
  try {
    parseTarget(url)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return error.message.replace(/^target_url /, '').replace(/\.$/, '')
  }
  if (type !== 'ntfy' || topicOf(url) !== null) return null
  return 'must end in a topic, such as https://ntfy.sh/my-topic'
}

/** The server's address and the topic of an ntfy URL. A server may be under a path. */
export function topicOf(url: string): { server: string; topic: string } | null {
  const { origin, pathname, search } = new URL(url)
  const [, path = '', topic] = /^(.*\/)([\w-]{1,64})$/.exec(pathname) ?? []
  return topic === undefined ? null : { server: `${origin}${path}${search}`, topic }
}
