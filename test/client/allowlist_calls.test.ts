// tier: quick
/** The calls that are shown to a person before a host is removed: exactly those that its entry allowed. */
import { expect, test } from 'bun:test'
import { callsAllowedBy, hostUses } from '../../src/client/actions/allowlist.ts'
import type { Api } from '../../src/client/http/api.ts'
import { listAuditLogs } from '../../src/features/audit/contract.ts'

const URLS = [
  'https://api.example.com/v1',
  'https://api.example.com:8443/v1',
  'https://pay.example.com/v1',
  'https://pay.example.com:8443/v1',
  'https://deep.api.example.com/v1',
  'https://example.com/v1',
  'https://other.example.org/v1',
]
const record = (target_url: string | null, host = new URL(target_url ?? '').hostname) => ({
  target_url,
  target_domain: host,
  reason: null as string | null,
  agent_id: target_url ?? host,
  credential_ref: 'ONE,TWO',
})
const records = URLS.map((url) => record(url))

/** A server whose audit finds records by host name only, like the real one. */
function serverWith(stored: typeof records, padding = 0) {
  const call = async (
    endpoint: unknown,
    { query }: { query: { domain?: string; limit: number } },
  ) => {
    if (endpoint !== listAuditLogs) {
      return {
        by_domain: [...new Set(stored.map((one) => one.target_domain))].map((domain) => ({
          domain,
        })),
      }
    }
    const found = stored.filter(({ target_domain }) => target_domain === query.domain)
    const others = Array(padding).fill(record(`https://${query.domain}:9/`))
    return [...others, ...found].slice(0, query.limit)
  }
  return { call } as unknown as Api
}

const urlsOf = async (domain: string) =>
  (await callsAllowedBy(serverWith(records), 'w', domain))?.agents.map(({ name }) => name)

test.each([
  ['api.example.com', ['https://api.example.com/v1']],
  ['api.example.com:8443', ['https://api.example.com:8443/v1']],
  ['*.example.com', ['https://api.example.com/v1', 'https://pay.example.com/v1']],
  ['*.example.com:8443', ['https://api.example.com:8443/v1', 'https://pay.example.com:8443/v1']],
  ['api.example.com:9000', []],
  ['unused.example.net', []],
])('%s was called at these addresses and no others', async (domain, urls) => {
  expect((await urlsOf(domain))?.sort()).toEqual([...urls].sort())
})

test('secrets are named once, and a call that was rejected for its host is not counted', async () => {
  const refused = { ...record('https://api.example.com:8443/v2'), reason: 'domain_blocked' }
  const api = serverWith([...records, refused])
  expect(await callsAllowedBy(api, 'w', 'api.example.com:8443')).toEqual({
    calls: 1,
    isWhole: true,
    agents: [{ name: 'https://api.example.com:8443/v1', count: 1 }],
    secrets: [
      { name: 'ONE', count: 1 },
      { name: 'TWO', count: 1 },
    ],
  })
})

test('a call that another entry also allows does not break', async () => {
  const api = serverWith(records)
  const left = async (others: string[]) =>
    (await callsAllowedBy(api, 'w', 'api.example.com:8443', others))?.calls
  expect(await left(['api.example.com:8443', 'api.example.com'])).toBe(1)
  expect(await left(['*.example.com:8443'])).toBe(0)
})

test("an entry's use is the use of all hosts and ports that it matches", () => {
  const use = (host: string, calls: number[], last: string) => ({
    ...{ host, calls, blocked: calls.map(() => 0) },
    last_used_at: `2026-11-${last}T00:00:00.000Z`,
  })
  const hosts = [
    use('api.example.com', [1, 2], '20'),
    use('api.example.com:8443', [4, 8], '22'),
    use('pay.example.com', [16, 32], '21'),
  ]
  const uses = hostUses(
    ['api.example.com', 'api.example.com:8443', '*.example.com', 'unused.example.com'],
    hosts,
  )
  expect(Object.fromEntries([...uses].map(([domain, { calls }]) => [domain, calls]))).toEqual({
    'api.example.com': [1, 2],
    'api.example.com:8443': [4, 8],
    '*.example.com': [17, 34],
  })
  expect(uses.get('*.example.com')?.last_used_at).toBe('2026-11-21T00:00:00.000Z')
})

test('a reported call without a URL counts for every port of its host', async () => {
  const api = serverWith([record(null, 'api.example.com')])
  const at = (domain: string) => callsAllowedBy(api, 'w', domain)
  expect((await at('api.example.com:8443'))?.calls).toBe(1)
  expect((await at('*.example.com'))?.calls).toBe(1)
})

test('"no calls" is never claimed if calls to other ports fill what was read', async () => {
  const api = serverWith(records, 500)
  const read = await callsAllowedBy(api, 'w', 'api.example.com:8443')
  expect(read?.isWhole).toBe(false)
})
