// tier: quick
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  addToAllowlist,
  listAllowlist,
  listAllowlistLog,
  removeFromAllowlist,
} from '../../../src/features/allowlist/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { type Call, contentOf, expectRefusal } from '../../support/failure.ts'
import type { Person } from '../../support/people.ts'
import { openTeam, type Team } from '../../support/teams.ts'

let app: TestApp
let shared: Team
let admin: Person
let reader: Person
/** Fresh for each test. */
let team: Team

beforeAll(async () => {
  app = await sharedApp()
  shared = await openTeam(app)
  admin = await shared.join('admin')
  reader = await shared.join('read_only')
})
beforeEach(async () => {
  team = await openTeam(app, admin)
})

const INVALID = 'must be a host name such as api.example.com, *.example.com or api.example.com:8443'

function path(rest = '', { workspaceId }: Team = team): string {
  return `/api/workspaces/${workspaceId}/allowlist/${rest}`
}

function add(body: unknown, person: Person = admin, to: Team = team): Call {
  return ['POST', path('', to), { token: person.token, body }]
}

async function domainsOf({ workspaceId, owner }: Team = team): Promise<string[]> {
  const params = { workspace_id: workspaceId }
  return (await owner.api.list(listAllowlist, { params })).map(({ domain }) => domain)
}

describe('adding', () => {
  test('an addition returns 201 with the added entries, and writes log and audit', async () => {
    const answer = await app.call(...add({ domains: ['b.example.com', 'a.example.com'] }))
    const entry = (domain: string) => ({
      id: expect.any(String),
      domain,
      added_by_email: admin.email,
      added_at: expect.any(String),
    })
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 201,
      body: { status: 'success', data: [entry('a.example.com'), entry('b.example.com')] },
    })
    expect((await recordedChanges(app, team.workspaceId)).slice(-2)).toEqual([
      'allowlist.added a.example.com',
      'allowlist.added b.example.com',
    ])
  })

  test('an addition accepts a single domain too', async () => {
    expect(await app.call(...add({ domain: 'api.example.com' }))).toMatchObject({
      status: 201,
      body: { data: [{ domain: 'api.example.com' }] },
    })
  })

  test('adding an existing domain is 200 and adds nothing, in any spelling', async () => {
    await app.call(...add({ domains: ['api.example.com', 'xn--bcher-kva.example'] }))
    const before = await contentOf(app)
    const spellings = [
      'API.Example.COM',
      'api.example.com.',
      'api.example.com:443',
      'bücher.example',
    ]
    const answer = await app.call(...add({ domains: spellings }))
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: { status: 'success', data: [] },
    })
    expect(await contentOf(app)).toEqual(before)
  })

  test('an addition of a mixed batch adds only new domains, and a repeated name once', async () => {
    await app.call(...add({ domain: 'old.example.com' }))
    const domains = ['new.example.com', 'old.example.com', 'NEW.example.com']
    const answer = await app.call(...add({ domains }))
    expect(answer).toMatchObject({ status: 201, body: { data: [{ domain: 'new.example.com' }] } })
    expect(await domainsOf()).toEqual(['new.example.com', 'old.example.com'])
  })

  test.each([
    ['API.Example.COM.', 'api.example.com'],
    ['*.Example.com', '*.example.com'],
    ['api.example.com:8443', 'api.example.com:8443'],
    ['*.example.com:8443', '*.example.com:8443'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['localhost', 'localhost'],
  ])('an addition stores %s as %s', async (given, stored) => {
    await app.call(...add({ domain: given }))
    expect(await domainsOf()).toEqual([stored])
  })

  test.each([
    '',
    '*',
    '*.com',
    '*.co.uk',
    '*.github.io',
    'a.*.example.com',
    'https://example.com',
    'example.com/path',
    'user@example.com',
    'example.com:0',
    'example.com:65536',
    'example.com:',
    '127.0.0.1',
    '0x7f.1',
    '2130706433',
    '[::1]',
    'exa mple.com',
    'example.com\0',
    'example.com\n',
    '-bad.example.com',
    `${'a'.repeat(64)}.example.com`,
  ])('an allowlist change rejects %j', async (domain) => {
    await expectRefusal(app, add({ domains: ['good.example.com', domain] }), 'validation_error', {
      fields: [{ path: 'domains.1', message: INVALID }],
    })
    await expectRefusal(app, add({ domain }), 'validation_error', {
      fields: [{ path: 'domain', message: INVALID }],
    })
  })

  const many = (count: number) => Array.from({ length: count }, (_, at) => `h${at}.example.com`)
  test.each<[string, unknown, string, string]>([
    ['nothing', {}, 'domains', 'is required'],
    ['an empty list', { domains: [] }, 'domains', 'must have a number of entries of at least 1'],
    ['501', { domains: many(501) }, 'domains', 'must have a number of entries of at most 500'],
    ['one bad among 500', { domains: many(500).with(321, '*') }, 'domains.321', INVALID],
    ['a number', { domain: 7 }, 'domain', 'must be of type string'],
    [
      'an endless name',
      { domain: 'a.'.repeat(151) },
      'domain',
      'must have a length of at most 300',
    ],
    [
      'a field too many',
      { domain: 'api.example.com', workspace_id: 'x' },
      'workspace_id',
      'is not a field of this request',
    ],
  ])('an allowlist change rejects %s', async (_, body, field, message) => {
    await expectRefusal(app, add(body), 'validation_error', {
      fields: [{ path: field, message }],
    })
  })

  test('two people who add the same domains in opposite orders both succeed', async () => {
    const domains = many(200)
    const answers = await Promise.all([
      app.call(...add({ domains })),
      app.call(...add({ domains: domains.toReversed() })),
    ])
    const counts = answers.map(({ status, body }) => {
      expect([200, 201]).toContain(status)
      return (body as { data: unknown[] }).data.length
    })
    expect(counts[0]).toBe(200 - (counts[1] ?? 0))
    expect(await domainsOf()).toHaveLength(200)
  })
})

describe('removing', () => {
  test('a removal is 200 once and then 404, and writes log and audit', async () => {
    await app.call(...add({ domain: 'api.example.com' }))
    const call: Call = ['DELETE', path('api.example.com/'), { token: admin.token }]
    const answer = await app.call(...call)
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: { status: 'success' },
    })
    expect(await domainsOf()).toEqual([])
    expect((await recordedChanges(app, team.workspaceId)).at(-1)).toBe(
      'allowlist.removed api.example.com',
    )
    await expectRefusal(app, call, 'not_found')
  })

  test.each(['*.example.com', 'api.example.com:8443', 'xn--bcher-kva.example', 'log', 'LOG:8443'])(
    'a removal finds %s by its path',
    async (domain) => {
      await app.call(...add({ domain }))
      const params = { workspace_id: team.workspaceId, domain }
      await admin.api.call(removeFromAllowlist, { params })
      expect(await domainsOf()).toEqual([])
    },
  )

  test('a removal leaves the same domain of another workspace, and entries under it', async () => {
    await app.call(...add({ domains: ['example.com', '*.example.com', 'example.com:8443'] }))
    await app.call(...add({ domain: 'example.com' }, shared.owner, shared))
    await app.call('DELETE', path('EXAMPLE.com/'), { token: admin.token })
    expect(await domainsOf()).toEqual(['*.example.com', 'example.com:8443'])
    expect(await domainsOf(shared)).toEqual(['example.com'])
  })

  test.each(['%00', 'a%2Fb', '127.0.0.1', '%E2%80%AE', 'a'.repeat(300)])(
    'a removal rejects %s, which is not a domain',
    async (domain) => {
      const call: Call = ['DELETE', path(`${domain}/`), { token: admin.token }]
      await expectRefusal(app, call, 'validation_error', {
        fields: [{ path: 'domain', message: INVALID }],
      })
    },
  )
})

describe('reading', () => {
  test('the list has the domains by name, page by page, and none of other workspaces', async () => {
    await app.call(...add({ domains: ['c.example', 'a.example', 'b.example'] }))
    await app.call(...add({ domain: 'elsewhere.example' }, shared.owner, shared))
    const params = { workspace_id: team.workspaceId }
    const listed = await admin.api.list(listAllowlist, { params, query: { limit: 1 } })
    expect(listed.map(({ domain }) => domain)).toEqual(['a.example', 'b.example', 'c.example'])
  })

  test('the log is listed newest first, page by page', async () => {
    await app.call(...add({ domain: 'a.example' }))
    await app.call(...add({ domain: 'b.example' }))
    await app.call('DELETE', path('a.example/'), { token: admin.token })
    const params = { workspace_id: team.workspaceId }
    const listed = await admin.api.list(listAllowlistLog, { params, query: { limit: 2 } })
    const line = (action: 'added' | 'removed', domain: string) => ({
      id: expect.any(String),
      domain,
      action,
      performed_by_email: admin.email,
      performed_at: expect.any(String),
    })
    expect(listed as unknown).toEqual([
      line('removed', 'a.example'),
      line('added', 'b.example'),
      line('added', 'a.example'),
    ])
  })

  test('a list rejects a cursor of the other list', async () => {
    await app.call(...add({ domains: ['a.example', 'b.example'] }))
    const { token } = admin
    const { body } = await app.call('GET', path('?limit=1'), { token })
    const { next_cursor } = (body as { pagination: { next_cursor: string } }).pagination
    const call: Call = ['GET', path(`log/?cursor=${next_cursor}`), { token }]
    await expectRefusal(app, call, 'validation_error', {
      fields: [{ path: 'cursor', message: 'is not a cursor of this list' }],
    })
  })
})

describe('permission', () => {
  const calls = (token: string | undefined): [Call[], Call[]] => {
    const body = { domain: 'evil.example' }
    return [
      [
        ['GET', path('', shared), { token }],
        ['GET', path('log/', shared), { token }],
      ],
      [
        ['POST', path('', shared), { token, body }],
        ['POST', path('', shared), { token, body: 7 }],
        ['DELETE', path('evil.example/', shared), { token }],
        ['DELETE', path('log/', shared), { token }],
      ],
    ]
  }

  test('readers and members can read and cannot write', async () => {
    const member = await shared.join('member')
    for (const { token } of [reader, member]) {
      const [reads, writes] = calls(token)
      for (const call of reads) expect((await app.call(...call)).status).toBe(200)
      for (const call of writes) await expectRefusal(app, call, 'forbidden')
    }
  })

  test('a body without its media type is 415, and broken JSON is 400', async () => {
    const headers = { authorization: `Bearer ${admin.token}` }
    const post = (body: string, type: string) =>
      fetch(`${app.controlPlane}${path()}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body,
      })
    const text = JSON.stringify({ domain: 'a.example' })
    expect((await post(text, 'text/plain')).status).toBe(415)
    expect(
      (await post('{"domain":"a.example","domain":"b.example"}', 'application/json')).status,
    ).toBe(400)
    expect(await domainsOf()).toEqual([])
  })

  test('another method is 405 and names the supported ones', async () => {
    const answer = await app.call('PUT', path(), { token: admin.token })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST')
  })
})

test('the typed client adds the named domains', async () => {
  const params = { workspace_id: team.workspaceId }
  const [added] = await admin.api.call(addToAllowlist, { params, body: { domain: 'x.example' } })
  expect(added?.domain).toBe('x.example')
})
