// tier: quick
/** Hostile names in every format: no value creates a mention, link, markup or header. */
import { describe, expect, test } from 'bun:test'
import { requestOf } from '../../src/notices/formats.ts'
import { readFields } from '../../src/notices/message.ts'
import { objectionToUrl, type TargetType } from '../../src/notices/target_url.ts'
import { blocksOf, scriptOf } from '../docs/blocks.ts'
import { requires } from '../support/requires.ts'
import { watched } from '../support/watched.ts'

const HOSTILE = [
  '<!channel> <!here> <@U012AB3CD> <https://evil.example|click>',
  '&lt;!channel&gt;',
  '@everyone @here <@123456789012345678> <@&1> <#1>',
  '[click](https://evil.example) ![x](https://evil.example/x.png)',
  '*bold* _it_ ~no~ `code` ```block``` ||spoiler|| > quote # title - list',
  '` @everyone `',
  'https://evil.example/path',
  'two\nlines\r\nX-Priority: max',
  'a\u202Ecod.exe',
  'zero\u200Bwidth\u2066isolate\u2069',
  '\u0000\u001b[31mred',
  '"},"mentions":["x"],{"',
  '😀'.repeat(300),
  '\\` \\@everyone',
  '   ',
]

const CREATED = new Date('2026-01-02T03:04:05.678Z')
const URLS: Record<TargetType, string> = {
  webhook: 'https://hooks.example.com/x',
  slack: 'https://hooks.slack.com/services/T/B/x',
  discord: 'https://discord.com/api/webhooks/1/x',
  ntfy: 'https://ntfy.sh/topic',
}

function sent(type: TargetType, hostile: string, page = '/audit', now = 1_700_000_000_999) {
  const request = requestOf(
    { type, url: URLS[type], key: type === 'webhook' ? 'key' : null },
    {
      notice: {
        id: '018f3c5e-7d2a-7c31-9b0e-000000000001',
        event: 'approval.requested',
        workspace: { id: '018f3c5e-7d2a-7c31-9b0e-000000000002', name: hostile },
        createdAt: CREATED,
        fields: readFields({ agent: hostile, host: hostile, secrets: [hostile, hostile], page }),
      },
      serverUrl: 'https://vault.example.com/base',
      now,
    },
  )
  return { ...request, json: JSON.parse(Buffer.from(request.body).toString()) }
}

/** The text outside of inline code. */
const outsideOfCode = (text: string) => text.replace(/`[^`\n]*`/g, '')

describe.each(HOSTILE)('the name %j', (hostile) => {
  test('the name is inline code in Slack, and creates no entities', () => {
    const { json } = sent('slack', hostile)
    const [{ text }] = json.blocks
    expect(json).toMatchObject({
      text: 'An agent asks for an approval',
      link_names: false,
      parse: 'none',
      unfurl_links: false,
      unfurl_media: false,
    })
    expect(text).toMatchObject({ type: 'mrkdwn', verbatim: true })
    expect(text.text.length).toBeLessThanOrEqual(3_000)
    expect(outsideOfCode(text.text)).toBe(
      '*An agent asks for an approval*\nWorkspace: \nAgent: \nHost: \nSecrets: \n<https://vault.example.com/base/audit|Open>',
    )
    const withoutLink = text.text.replace('<https://vault.example.com/base/audit|Open>', '')
    expect(withoutLink).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
  })

  test('the name is inline code in Discord, and mentions nobody', () => {
    const { json } = sent('discord', hostile)
    expect(json.allowed_mentions).toEqual({ parse: [] })
    expect(json.content.length).toBeLessThanOrEqual(2_000)
    expect(outsideOfCode(json.content)).toBe(
      '**An agent asks for an approval**\nWorkspace: \nAgent: \nHost: \nSecrets: \n<https://vault.example.com/base/audit>',
    )
  })

  test('the name is a line of JSON in ntfy, and no header', () => {
    const { json, url, headers } = sent('ntfy', hostile)
    expect(url).toBe('https://ntfy.sh/')
    expect(json).toMatchObject({
      topic: 'topic',
      title: 'An agent asks for an approval',
      tags: ['lock'],
      priority: 4,
      click: 'https://vault.example.com/base/audit',
    })
    expect(json.message.split('\n').map((line: string) => line.split(':')[0])).toEqual([
      'Workspace',
      'Agent',
      'Host',
      'Secrets',
    ])
    expect(Buffer.byteLength(json.message)).toBeLessThanOrEqual(4_096)
    expect(headers.map(([name]) => name)).toEqual(['content-type', 'user-agent'])
  })

  test('the name has no character that hides or reverses text, in any format', () => {
    for (const type of ['webhook', 'slack', 'discord', 'ntfy'] as const) {
      const { body } = sent(type, hostile)
      const text = Buffer.from(body).toString()
      const shown = type === 'webhook' ? JSON.stringify(JSON.parse(text).agent) : text
      expect(shown).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u200b]|\\u00/u)
    }
  })
})

test('the signature covers the time and the body', () => {
  const { headers, body } = sent('webhook', 'bot')
  const mac = new Bun.CryptoHasher('sha256', 'key').update('1700000000.').update(body).digest('hex')
  expect(headers).toContainEqual(['x-cloakroom-signature', `t=1700000000,v1=${mac}`])
})

/** Headers for the documented examples, and whether each must be accepted. */
function signatures() {
  const valid = sent('webhook', 'bot', '/audit', Date.now())
  const late = sent('webhook', 'bot', '/audit', Date.now() - 400_000)
  const headerOf = ({ headers }: typeof valid) =>
    headers.find(([name]) => name === 'x-cloakroom-signature')?.[1] ?? ''
  const text = Buffer.from(valid.body).toString()
  return [
    { key: 'key', header: headerOf(valid), text, isValid: true },
    { key: 'other', header: headerOf(valid), text, isValid: false },
    { key: 'key', header: headerOf(valid), text: `${text} `, isValid: false },
    { key: 'key', header: headerOf(late), text, isValid: false },
    { key: 'key', header: 'none', text, isValid: false },
  ]
}

const [forNode, forPython] = blocksOf('docs/guides/notices.md', 'verify')

test('the documented function for Node.js accepts a recent signature of the key, and no other', async () => {
  const url = URL.createObjectURL(new Blob([forNode?.text ?? ''], { type: 'text/javascript' }))
  const { isSigned } = await import(url)
  for (const { key, header, text, isValid } of signatures())
    expect(isSigned(key, header, Buffer.from(text))).toBe(isValid)
})

requires('python').test(
  'The documented function for Python accepts a recent signature of the key, and no other',
  () => {
    const cases = JSON.stringify(signatures())
    const check =
      'import json, sys\nprint(json.dumps([is_signed(c["key"], c["header"], c["text"].encode()) for c in json.loads(sys.argv[1])]))'
    const { stdout } = watched(
      Bun.spawnSync(['python3', '-c', `${forPython?.text}\n${check}`, cases]),
    )
    expect(JSON.parse(stdout.toString())).toEqual(signatures().map(({ isValid }) => isValid))
  },
)

test('the documented body equals the notice of a refused call', () => {
  const shown = JSON.parse(scriptOf('docs/guides/notices.md', 'body'))
  const { agent, host, code } = shown
  const request = requestOf(
    { type: 'webhook', url: URLS.webhook, key: 'key' },
    {
      notice: {
        id: shown.id,
        event: 'call.refused',
        workspace: shown.workspace,
        createdAt: CREATED,
        fields: readFields({ agent, host, code }),
      },
      serverUrl: undefined,
      now: 0,
    },
  )
  expect(JSON.parse(Buffer.from(request.body).toString())).toEqual(shown)
})

test('a page that is not a path of the console becomes no link', () => {
  for (const page of [
    '//evil.example',
    '/a b',
    '/a?b',
    'javascript:x',
    'https://evil.example',
    '/a|b',
    '/a>b',
  ]) {
    const { json } = sent('webhook', 'bot', page)
    const link = 'link' in json ? new URL(json.link) : null
    expect([page, link?.origin ?? null]).toEqual([page, link ? 'https://vault.example.com' : null])
  }
})

test("a target's URL is https, without user information, at most 2 KiB long and with a topic for ntfy", () => {
  const long = `https://hooks.example.com/${'x'.repeat(2_048)}`
  for (const [type, url, isGood] of [
    ['webhook', 'https://hooks.example.com:8443/x?y=z', true],
    ['webhook', 'http://hooks.example.com/x', false],
    ['webhook', 'https://user:pass@hooks.example.com/', false],
    ['webhook', 'https://@hooks.example.com/', false],
    ['webhook', 'file:///etc/passwd', false],
    ['webhook', '', false],
    ['webhook', long, false],
    ['ntfy', 'https://ntfy.sh/my-topic', true],
    ['ntfy', 'https://example.com/ntfy/my-topic?auth=x', true],
    ['ntfy', 'https://ntfy.sh/', false],
    ['ntfy', 'https://ntfy.sh/a%2Fb', false],
  ] as const) {
    const objection = objectionToUrl(type, url)
    expect([url, objection === null]).toEqual([url, isGood])
    if (objection && url.length > 20) expect(objection).not.toContain(url.slice(8))
  }
})
