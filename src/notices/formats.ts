/**
 * The request of a notice for each type of target. In Slack and Discord every value is inline code, where neither mentions
 * nor links nor markdown count. ntfy gets JSON, so that no value becomes a header.
 */
import { createHmac } from 'node:crypto'
import { utf8 } from '../core/crypto/encoding.ts'
import type { PostRequest } from '../outbound/connection/post_request.ts'
import { USER_AGENT } from '../outbound/index.ts'
import { composeMessage, linkTo, type Message, type StoredNotice } from './message.ts'
import type { TargetSecret } from './target.ts'
import { topicOf } from './target_url.ts'

/** Characters. Slack takes 3,000 in a block, Discord 2,000 in a message. */
const MAX_SLACK = 2_900
const MAX_DISCORD = 1_900
/** Bytes. ntfy makes a longer message an attachment. */
const MAX_NTFY = 3_900

type Sending = { notice: StoredNotice; serverUrl: string | undefined; now: number }

/** `now` in milliseconds, for the signature. */
export function requestOf(target: TargetSecret, { notice, serverUrl, now }: Sending): PostRequest {
  const link = linkTo(serverUrl, notice.fields.page)
  if (target.type === 'webhook') return webhookRequest(target, notice, link, now)
  const message = composeMessage(notice, link)
  if (target.type === 'slack') return jsonRequest(target.url, slackBody(message))
  if (target.type === 'discord') return jsonRequest(target.url, discordBody(message))
  const { server, topic } = topicOf(target.url) ?? { server: target.url, topic: '' }
  return jsonRequest(server, ntfyBody(message, topic, notice.event))
}

function webhookRequest(
  { url, key }: TargetSecret,
  { id, event, workspace, createdAt, fields: { page: _, ...fields } }: StoredNotice,
  link: string | null,
  now: number,
): PostRequest {
  const created_at = createdAt.toISOString()
  const linked = link === null ? {} : { link }
  const request = jsonRequest(url, { id, event, workspace, created_at, ...fields, ...linked })
  const signature = signatureOf(key ?? '', Math.floor(now / 1000), request.body)
  return { ...request, headers: [...request.headers, ['x-cloakroom-signature', signature]] }
}

/** `t=<unix>,v1=<hex HMAC-SHA256(key, t ‖ "." ‖ body)>`. The key is the UTF-8 text that was shown. */
function signatureOf(key: string, time: number, body: Uint8Array): string {
  const mac = createHmac('sha256', key).update(`${time}.`).update(body).digest('hex')
  return `t=${time},v1=${mac}`
}

function jsonRequest(url: string, body: object): PostRequest {
  return {
    url,
    headers: [
      ['content-type', 'application/json'],
      ['user-agent', USER_AGENT],
    ],
    body: utf8(JSON.stringify(body)),
  }
}

function slackBody({ title, lines, link }: Message): object {
  const text = joinFitting(
    [`*${title}*`, ...lines.map(([label, value]) => `${label}: ${asCode(escapeForSlack(value))}`)],
    link === null ? [] : [`<${escapeForSlack(link).replaceAll('|', '%7C')}|Open>`],
    ({ length }) => length <= MAX_SLACK,
  )
  const block = { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }
  return {
    text: title,
    blocks: [block],
    link_names: false,
    parse: 'none',
    unfurl_links: false,
    unfurl_media: false,
  }
}

/** Escapes the characters of mentions, links and entities. */
function escapeForSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function discordBody({ title, lines, link }: Message): object {
  const content = joinFitting(
    [`**${title}**`, ...lines.map(([label, value]) => `${label}: ${asCode(value)}`)],
    link === null ? [] : [`<${link}>`],
    ({ length }) => length <= MAX_DISCORD,
  )
  // The flag suppresses previews of links.
  return { content, allowed_mentions: { parse: [] }, flags: 4 }
}

/** Inline code ends at a backtick only, and an empty one would end at the next. */
function asCode(text: string): string {
  return `\`${text.replaceAll('`', "'").trim() || '-'}\``
}

const URGENT: readonly string[] = ['approval.requested', 'reconnect.required']

function ntfyBody({ title, lines, link }: Message, topic: string, event: string): object {
  const message = joinFitting(
    lines.map(([label, value]) => `${label}: ${value}`),
    [],
    (text) => Buffer.byteLength(text) <= MAX_NTFY,
  )
  const priority = URGENT.includes(event) ? 4 : 3
  return {
    topic,
    title,
    message,
    tags: ['lock'],
    priority,
    ...(link === null ? {} : { click: link }),
  }
}

/** Returns as many whole lines as fit before those that are always kept. */
function joinFitting(
  lines: readonly string[],
  kept: readonly string[],
  fits: (text: string) => boolean,
): string {
  const formatAll = (count: number) => [...lines.slice(0, count), ...kept].join('\n')
  let count = lines.length
  while (count > 1 && !fits(formatAll(count))) count -= 1
  return formatAll(count)
}
