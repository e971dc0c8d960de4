// tier: quick
/**
 * Every endpoint with a body × every kind of hostile content: unknown fields, invalid texts, base64 in another
 * spelling. The bodies are those of the role matrix, so no endpoint can be forgotten here. `bun run test` checks a
 * tenth of the endpoints.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { sample } from '../support/sample.ts'
import { type Request, type Row, rows } from './matrix_rows.ts'
import { buildWorld, fingerprint, type World } from './matrix_world.ts'

const CRON_SECRET = 'a-secret-of-the-scheduler-and-nobody-else'

let app: TestApp
let world: World

beforeAll(async () => {
  const plenty = '1000000/1'
  app = await startTestApp({
    // The tests log in once per body.
    QUOTA_SESSIONS: '100000',
    RATE_REGISTER: plenty,
    RATE_LOGIN: plenty,
    RATE_API: plenty,
    RATE_TOKEN: plenty,
    CRON_SECRET,
  })
  world = await buildWorld(app, { isStaffed: false })
}, 60_000)
beforeEach(() => {
  app.logs.length = 0
  // The account with failed guesses must wait, and it is also the caller here.
  app.clock.advance(600_000)
})
afterAll(() => app.stop())

type Served = { endpoint: Endpoint; surface: 'control-plane' | 'resolver'; row: Row }
type Path = readonly (string | number)[]

/** Ingestion ignores unknown fields (protocol 2). */
const IGNORES_UNKNOWN = ['audit.record']

const served: [string, Served][] = listAllEndpoints().flatMap(({ surface, endpoints }) =>
  endpoints
    .filter((endpoint) => endpoint.body !== undefined || endpoint.name === 'audit.record')
    .filter(({ name }) => rows[name] !== undefined)
    .map((endpoint): [string, Served] => [
      `${surface} ${endpoint.name}`,
      { endpoint, surface, row: rows[endpoint.name] as Row },
    ]),
)

/** An invitation exists only for the invited person. */
function callerOf({ row }: Served): 'owner' | 'invited' {
  return row.expect?.owner === 404 ? 'invited' : 'owner'
}

function freshRequest(place: Served): Request | Promise<Request> {
  const name = callerOf(place)
  return place.row.request({ world, caller: world.person[name], name })
}

function tokenFor(place: Served): string {
  const { kind } = place.endpoint.access
  if (kind === 'cron') return CRON_SECRET
  return kind === 'token' ? world.workloadToken : world.person[callerOf(place)].token
}

async function send(place: Served, request: Request, text: string) {
  const { params = {}, query = {}, token, headers } = request
  const { endpoint, surface } = place
  const origin = surface === 'resolver' ? app.resolver : app.controlPlane
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const response = await fetch(`${origin}${path}?${new URLSearchParams(query)}`, {
    method: endpoint.method,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token ?? tokenFor(place)}`,
      ...headers,
    },
    body: text,
  })
  return { status: response.status, text: await response.text() }
}

/** Every object, or every text, in a body, by its path; the first entry of a list represents all. */
function placesIn(value: unknown, kind: 'object' | 'string', path: Path = []): Path[] {
  if (Array.isArray(value)) return placesIn(value[0], kind, [...path, 0])
  if (typeof value !== 'object') return typeof value === kind ? [path] : []
  if (value === null) return []
  const inside = Object.entries(value).flatMap(([key, entry]) =>
    placesIn(entry, kind, [...path, key]),
  )
  return kind === 'object' ? [path, ...inside] : inside
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, step) => (inner as Record<string | number, unknown>)[step], value)

function withValue(body: unknown, path: Path, value: unknown): unknown {
  const copy = structuredClone(body)
  const parent = at(copy, path.slice(0, -1)) as Record<string | number, unknown>
  parent[path.at(-1) ?? ''] = value
  return copy
}

/** Long enough not to be a name that happens to look like it. */
function isBase64(text: string): boolean {
  return text.length >= 24 && Buffer.from(text, 'base64').toString('base64') === text
}

/** The same bytes for a reader that is not strict. */
function otherSpellings(text: string): string[] {
  const bits = text.replace(/.(=+)$/, (end) => `${end.startsWith('A') ? 'B' : 'z'}${end.slice(1)}`)
  const spellings = [`${text}\n`, ` ${text}`, `${text}====`, text.replace(/=+$/, ''), bits]
  const url = text.replaceAll('+', '-').replaceAll('/', '_')
  return [...spellings, url].filter((spelling) => spelling !== text)
}

/** In any field, they are data. */
const HOSTILE = [
  ...['a\nb', 'a\u001b[31mb', 'a\0b', 'a\u202eb', 'a\r\nX: y', '"},{"', 'x'.repeat(65_536)],
  ...['%2F', '..', '../..', 'é'.repeat(300), '__proto__', 'constructor', "' or '1'='1", '\ud800'],
]

/** The same document with a construct on which JSON readers disagree. */
function misreadings(good: string): string[] {
  const documents = [
    good.replace(/^\{/, '{"__proto__":{},').replace(/,\}$/, '}'),
    good.replace(/^\{/, '{"constructor":{},').replace(/,\}$/, '}'),
    ...[`${good} x`, `\ufeff${good}`, `${good}\0`, `${good}${good}`, '{"a":1,"a":2}'],
    ...[`${'['.repeat(33)}${']'.repeat(33)}`, '{"a":NaN}', '{"a":1,}', "{'a':1}", '{"a":01}'],
  ]
  return documents.filter((text) => text !== good)
}

/** Sends a fresh body with another value at a place, and expects an error that has written nothing. */
async function expectRefused(place: Served, change: (body: unknown) => unknown, path: Path) {
  const request = await freshRequest(place)
  const sent = JSON.stringify(change(structuredClone(request.body ?? {})))
  const state = await fingerprint(world)
  const { status, text } = await send(place, request, sent)
  const where = { path: path.join('.'), sent }
  expect({ ...where, status, body: JSON.parse(text) }).toEqual({
    ...where,
    status: 422,
    body: expect.objectContaining({ error_code: 'validation_error' }),
  })
  expect({ ...where, state: await fingerprint(world) }).toEqual({ ...where, state })
}

const STRANGERS = ['role', 'id', 'workspace_id', 'is_instance_owner', 'verified']

describe.each(sample('hostile bodies', served))('%s', (_, place) => {
  if (!IGNORES_UNKNOWN.includes(place.endpoint.name)) {
    test('an endpoint rejects unknown fields at any depth (16)', async () => {
      const { body = {} } = await freshRequest(place)
      const unknown = placesIn(body, 'object').flatMap((path) =>
        STRANGERS.filter((name) => !(name in (at(body, path) as object))).map(
          (name) => [...path, name] as const,
        ),
      )
      for (const path of unknown) {
        const value = path.at(-1) === 'role' ? 'owner' : world.workspaceId
        await expectRefused(place, (fresh) => withValue(fresh, path, value), path)
      }
    })
  }

  test('an endpoint accepts base64 in its canonical spelling only (48)', async () => {
    const { body } = await freshRequest(place)
    for (const path of placesIn(body, 'string')) {
      const value = at(body, path) as string
      for (const spelling of isBase64(value) ? otherSpellings(value) : [])
        await expectRefused(place, (fresh) => withValue(fresh, path, spelling), path)
    }
  })

  test('an endpoint stores or rejects hostile texts and logs one line of JSON for each (17, 51)', async () => {
    const { body } = await freshRequest(place)
    const bodies = placesIn(body, 'string').flatMap((path) =>
      HOSTILE.map((text) => ({ path, make: (fresh: unknown) => withValue(fresh, path, text) })),
    )
    const names = HOSTILE.map((text) => ({ path: [text], make: () => ({ [text]: 1 }) }))
    for (const { path, make } of [...bodies, ...names]) {
      const request = await freshRequest(place)
      const { status } = await send(place, request, JSON.stringify(make(request.body)))
      const where = path.join('.').slice(0, 40)
      expect({ where, isAnswered: status < 500 }).toEqual({ where, isAnswered: true })
    }
    expect(app.logs.length).toBeGreaterThan(0)
    for (const line of app.logs) {
      expect(line).toMatch(/^[\x20-\x7e]+\n$/)
      expect(() => JSON.parse(line)).not.toThrow()
    }
  })

  test('an endpoint answers 400 to JSON that two parsers would read differently (45)', async () => {
    const request = await freshRequest(place)
    const good = JSON.stringify(request.body ?? {})
    const state = await fingerprint(world)
    for (const text of misreadings(good)) {
      const answer = await send(place, request, text)
      const sent = text.slice(-40)
      expect({ sent, status: answer.status, body: JSON.parse(answer.text) }).toEqual({
        sent,
        status: 400,
        body: expect.objectContaining({ error_code: 'malformed_json' }),
      })
    }
    expect(await fingerprint(world)).toEqual(state)
  })
})

test('this test covers every endpoint with a body', () => {
  expect(served.length).toBeGreaterThan(25)
})
