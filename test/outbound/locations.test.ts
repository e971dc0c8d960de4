// tier: quick
/** Credentials outside headers: only in the places of the secret's own policy, and text everywhere else. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Fault } from '../../src/core/fault.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { Secret } from '../../src/core/secret.ts'
import {
  fillLocations,
  findLocations,
  NOTHING_PLACEABLE,
} from '../../src/outbound/injection/locations.ts'
import { parseTarget } from '../../src/outbound/target.ts'
import {
  type Agent,
  createAgentWithToken,
  expectRefused,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { forwardAs, recordOfAnswer, streamAs } from '../support/forward.ts'
import { answerOf } from '../support/upstream.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (given: Uint8Array | null | undefined) =>
  given ? new TextDecoder().decode(given) : null

type Parts = { path?: string; body?: string; type?: string }

/** The request as sent if every placeholder found is accepted. */
function filled({ path = '/', body, type }: Parts, named: Record<string, string | Uint8Array>) {
  const target = parseTarget(`https://api.example.com${path}`)
  const locations = findLocations(target, body === undefined ? null : bytes(body), type, () => true)
  const values = new Map(
    Object.entries(named).map(([name, value]) => [
      name,
      new Secret(typeof value === 'string' ? bytes(value) : value),
    ]),
  )
  const { found } = locations
  const out = fillLocations(target, locations, values).reveal()
  return { ...out, body: text(out.body), styles: found.map(({ style }) => style) }
}

const codeOf = (act: () => unknown) => {
  try {
    act()
    return 'accepted'
  } catch (error) {
    return error instanceof Fault ? error.code : String(error)
  }
}

describe('a value', () => {
  const printable = fc.string({ unit: 'grapheme', minLength: 1 }).filter((s) => s.isWellFormed())

  test('a value of any bytes is encoded in a query so that the upstream decodes the same bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), (value) => {
        const { search } = filled({ path: '/x?a=1&key=SVC_SECRET_K&b=2' }, { K: value })
        const [, encoded = ''] = /&key=([^&]*)&b=2$/.exec(search) ?? []
        expect(encoded).toMatch(/^(?:[A-Za-z0-9\-._~]|%[0-9A-F]{2})+$/)
        const decoded = encoded.replace(/%(..)/g, (_, hex) =>
          String.fromCharCode(Number.parseInt(hex, 16)),
        )
        expect(Buffer.from(decoded, 'latin1').equals(Buffer.from(value))).toBe(true)
      }),
    )
  })

  test('a value of any text is encoded in a query, a path, JSON and a form so that the upstream reads the same text', () => {
    fc.assert(
      fc.property(printable, (value) => {
        const url = filled({ path: '/x?key=SVC_SECRET_K' }, { K: value })
        expect(new URLSearchParams(url.search).get('key')).toBe(value)
        const json = filled(
          { body: '{"a":{"key":"pre SVC_SECRET_K"}}', type: 'application/json' },
          { K: value },
        )
        expect(JSON.parse(json.body ?? '')).toEqual({ a: { key: `pre ${value}` } })
        const form = filled(
          { body: 'a=1&key=SVC_SECRET_K&b=', type: 'application/x-www-form-urlencoded' },
          { K: value },
        )
        expect([...new URLSearchParams(form.body ?? '')]).toEqual([
          ['a', '1'],
          ['key', value],
          ['b', ''],
        ])
      }),
    )
  })

  test('a value stays in its segment of the path, whatever its content', () => {
    fc.assert(
      fc.property(printable, (value) => {
        fc.pre(value !== '.' && value !== '..')
        const { path } = filled({ path: '/bot/SVC_SECRET_K/send' }, { K: value })
        expect(path.split('/').length).toBe(4)
        expect(decodeURIComponent(path.split('/')[2] ?? '')).toBe(value)
        expect(new URL(`https://host${path}`).pathname).toBe(path)
      }),
    )
  })

  test('a value that would change its path is 422 unusable_secret', () => {
    for (const value of ['.', '..']) {
      expect(codeOf(() => filled({ path: '/a/SVC_SECRET_K/b' }, { K: value }))).toBe(
        'unusable_secret',
      )
    }
    expect(codeOf(() => filled({ path: '/SVC_SECRET_K/b' }, { K: '' }))).toBe('unusable_secret')
    expect(codeOf(() => filled({ path: '/x?a=SVC_SECRET_K' }, { K: 'é'.repeat(6000) }))).toBe(
      'unusable_secret',
    )
  })

  test('a value that is not text cannot be inserted into JSON', () => {
    const parts = { body: '{"k":"SVC_SECRET_K"}', type: 'application/json' }
    expect(codeOf(() => filled(parts, { K: Uint8Array.of(0xff) }))).toBe('unusable_secret')
  })

  test('a value is inserted once: a placeholder-like text in it stays', () => {
    const named = { A: 'SVC_SECRET_B', B: 'value-of-b' }
    expect(filled({ path: '/SVC_SECRET_A?q=SVC_SECRET_A&r=SVC_SECRET_B' }, named)).toMatchObject({
      path: '/SVC_SECRET_B',
      search: '?q=SVC_SECRET_B&r=value-of-b',
    })
    const body = '{"a":"SVC_SECRET_A","b":"SVC_SECRET_B"}'
    expect(filled({ body, type: 'application/json' }, named).body).toBe(
      '{"a":"SVC_SECRET_B","b":"value-of-b"}',
    )
  })
})

describe('a value in nested text', () => {
  type Layer = 'json' | 'form'
  const wrap = (layer: Layer, inside: string) =>
    layer === 'json'
      ? JSON.stringify({ n: [1, 'a "quoted" b'], in: inside, after: 'é\\\n' })
      : String(new URLSearchParams({ first: '1', in: inside, last: 'x y' }))
  const unwrap = (layer: Layer, outside: string): string =>
    layer === 'json' ? JSON.parse(outside).in : (new URLSearchParams(outside).get('in') ?? '')
  const TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded' }
  const value = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((text) => text.isWellFormed())
    .map((text) => `${text}\n"\\&+%=é`)

  test('a value in nested text is what its reader finds after decoding every layer, up to 4 deep', () => {
    const layers = fc.array(fc.constantFrom<Layer>('json', 'form'), {
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(layers, value, ([outer = 'json', ...inner], secret) => {
        const all = [outer, ...inner]
        const body = all.toReversed().reduce((text, layer) => wrap(layer, text), 'SVC_SECRET_K')
        const sent = filled({ body, type: TYPES[outer] }, { K: secret }).body ?? ''
        expect(all.reduce((text, layer) => unwrap(layer, text), sent)).toBe(secret)
        const inQuery = `/x?a=1&q=${encodeURIComponent(body)}`
        const { search } = filled({ path: inQuery }, { K: secret })
        const read = new URLSearchParams(search).get('q') ?? ''
        expect(all.reduce((text, layer) => unwrap(layer, text), read)).toBe(secret)
      }),
    )
  })

  test('a value in nested text is rejected if its escaping is ambiguous, and only if it needs an escape', () => {
    const inside = [
      '{"a":"SVC_SECRET_K"',
      'see {"a":"SVC_SECRET_K"}',
      '{"a":"SVC_SECRET_K"}\n{"a":1}',
      'curl -H "x: SVC_SECRET_K"',
    ]
    for (const text of inside) {
      for (const layer of ['json', 'form'] as const) {
        const parts = { body: wrap(layer, text), type: TYPES[layer] }
        for (const secret of ['line\nbreak', 'a"b', 'a\\b']) {
          expect(codeOf(() => filled(parts, { K: secret }))).toBe('unusable_secret')
        }
        const sent = filled(parts, { K: 'a+b/c=' }).body ?? ''
        expect(unwrap(layer, sent)).toBe(text.replace('SVC_SECRET_K', 'a+b/c='))
      }
    }
  })

  test('a value nested deeper than 8 layers is rejected', () => {
    const body = (depth: number) =>
      Array.from({ length: depth }).reduce((text: string) => wrap('json', text), 'SVC_SECRET_K')
    const code = (depth: number) =>
      codeOf(() => filled({ body: body(depth), type: TYPES.json }, { K: 'v' }))
    expect([code(8), code(9)]).toEqual(['accepted', 'unusable_secret'])
  })
})

test('placeholder-like texts are compared with policies up to a bound, and not at all without policies', () => {
  const target = parseTarget('https://api.example.com/')
  const search = (count: number, isPlaceable: typeof NOTHING_PLACEABLE) =>
    findLocations(
      target,
      bytes(`"${'SVC_SECRET_OTHER '.repeat(count)}"`),
      'application/json',
      isPlaceable,
    )
  const isKey = (name: string) => name === 'KEY'
  expect(search(16_384, isKey)).toMatchObject({ found: [], body: null })
  expect(codeOf(() => search(16_385, isKey))).toBe('validation_error')
  const { found, texts } = search(100_000, NOTHING_PLACEABLE)
  expect([found.length, texts.length]).toEqual([0, 64])
})

describe('placeholders are found', () => {
  test('placeholders are found whole, the longest name first, several in one place', () => {
    const named = { FOO: 'foo', FOO_BAR: 'foobar' }
    expect(
      filled({ path: '/x?a=SVC_SECRET_FOO_BAR-SVC_SECRET_FOO.SVC_SECRET_FOO' }, named).search,
    ).toBe('?a=foobar-foo.foo')
    expect(filled({ path: `/x?a=SVC_SECRET_${'A'.repeat(129)}` }, {}).styles).toEqual([])
    expect(filled({ path: '/x?a=svc_secret_FOO&b=SVC_SECRET_&c=SVC_SECRET_1' }, named).search).toBe(
      '?a=svc_secret_FOO&b=SVC_SECRET_&c=SVC_SECRET_1',
    )
  })

  test('placeholders are found in a body only as its declared type, and only if it has that type', () => {
    const json = '{"k":"SVC_SECRET_K"}'
    const styles = (body: string, type?: string) =>
      filled({ body, ...(type ? { type } : {}) }, { K: 'v' }).styles
    for (const type of [
      'application/json',
      'Application/JSON; charset=utf-8',
      'application/vnd.api+json',
    ]) {
      expect({ type, styles: styles(json, type) }).toEqual({ type, styles: ['json'] })
    }
    for (const type of [
      undefined,
      'text/plain',
      'application/jsonx',
      'text/json',
      'multipart/form-data',
    ]) {
      expect({ type, styles: styles(json, type) }).toEqual({ type, styles: [] })
    }
    expect(styles('{"k":SVC_SECRET_K}', 'application/json')).toEqual([])
    expect(styles('k=SVC_SECRET_K', 'application/x-www-form-urlencoded')).toEqual(['form'])
  })

  test('placeholders are not found in bytes that are not UTF-8', () => {
    const target = parseTarget('https://api.example.com/')
    const body = Buffer.concat([Buffer.from('k=SVC_SECRET_K&x='), Buffer.of(0xff)])
    const type = 'application/x-www-form-urlencoded'
    expect(findLocations(target, body, type, () => true)).toEqual({
      found: [],
      body: null,
      texts: [{ name: 'K', place: 'body' }],
    })
  })

  test('the rest of a body stays unchanged, byte for byte', () => {
    const body = '\ufeff{ "n": 1.0e+2,\r\n "k" : "SVC_SECRET_K", "u":"\\u00e9\u00e9" }'
    // A byte order mark is not JSON: such a body is unchanged.
    expect(filled({ body, type: 'application/json' }, { K: 'v' }).body).toBeNull()
    const plain = body.slice(1)
    expect(filled({ body: plain, type: 'application/json' }, { K: 'v' }).body).toBe(
      plain.replace('SVC_SECRET_K', 'v'),
    )
  })
})

describe('on the real listener', () => {
  let stage: Stage
  let agent: Agent

  beforeAll(async () => {
    stage = await sharedStage()
    agent = await createAgentWithToken(stage, { secrets: { PLAIN: marked('value-of-plain') } })
    const permit = (...locations: NonNullable<Policy['allowed_locations']>) => ({
      policy: { allowed_locations: locations },
    })
    await agent.store('QUERY', marked('q&=/+ value'), permit('query'))
    await agent.store('PATH', marked('p/../é'), permit('path'))
    await agent.store('JSON', marked('j"\\\n'), permit('json'))
    await agent.store('FORM', marked('f&=+ '), permit('form'))
    await agent.store('HEADER', marked('value-of-header'), permit('header'))
  })
  afterAll(() => stage.stop())
  afterEach(() => {
    stage.upstream.received.length = 0
  })

  const JSON_TYPE = { 'Content-Type': 'application/json' }
  const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' }

  test('on the real listener each location is filled if the policy lists it, and the audit names it', async () => {
    const cases: [call: Record<string, unknown>, sent: object, style: string][] = [
      [
        { target_url: stage.url('/x?key=SVC_SECRET_QUERY') },
        { path: marked('/x?key=q%26%3D%2F%2B%20value') },
        'query',
      ],
      [
        { target_url: stage.url('/botSVC_SECRET_PATH/send') },
        { path: `/bot${marked('p%2F..%2F%C3%A9')}/send` },
        'path',
      ],
      [
        {
          target_url: stage.url('/x'),
          method: 'POST',
          headers: JSON_TYPE,
          body: '{"key":"SVC_SECRET_JSON"}',
        },
        { body: `{"key":"${marked('j\\"\\\\\\n')}"}` },
        'json',
      ],
      [
        {
          target_url: stage.url('/x'),
          method: 'POST',
          headers: FORM_TYPE,
          body: 'key=SVC_SECRET_FORM',
        },
        { body: marked('key=f%26%3D%2B%20') },
        'form',
      ],
    ]
    for (const [call, sent, style] of cases) {
      for (const streamed of [false, true]) {
        stage.upstream.received.length = 0
        const answer = streamed ? await streamAs(stage, agent, call) : await agent.resolve(call)
        expect(answer.status).toBe(200)
        const [received] = stage.upstream.received
        expect({ path: received?.path, body: text(received?.body) }).toMatchObject(sent)
        const length = received?.header('content-length')
        expect(length ?? '0').toBe(String(received?.body.length))
        const record = await recordOfAnswer(stage, answer as Response)
        expect(record).toMatchObject({
          credential_ref: style.toUpperCase(),
          injection_style: style,
        })
        expect(JSON.stringify(record)).not.toContain('%26')
      }
    }
  })

  test('forward mode fills locations the same way', async () => {
    const response = await forwardAs(stage, agent, '/x?key=SVC_SECRET_QUERY', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"key":"SVC_SECRET_JSON","other":"SVC_SECRET_PLAIN"}',
    })
    expect(response.status).toBe(200)
    const [received] = stage.upstream.received
    expect(received?.path).toBe(marked('/x?key=q%26%3D%2F%2B%20value'))
    expect(text(received?.body)).toBe(
      `{"key":"${marked('j\\"\\\\\\n')}","other":"SVC_SECRET_PLAIN"}`,
    )
    expect(await recordOfAnswer(stage, response)).toMatchObject({
      credential_ref: 'QUERY,JSON',
      injection_style: 'query,json',
    })
  })

  test('a placeholder stays text without a policy, in another location, or without the secret', async () => {
    const path =
      '/SVC_SECRET_PLAIN/SVC_SECRET_QUERY?a=SVC_SECRET_PLAIN&b=SVC_SECRET_PATH&c=SVC_SECRET_NOBODY&d=SVC_SECRET_HEADER'
    const body = '{"a":"SVC_SECRET_PLAIN","b":"SVC_SECRET_FORM","c":"SVC_SECRET_NOBODY"}'
    const answer = await agent.resolve({
      target_url: stage.url(path),
      method: 'POST',
      headers: JSON_TYPE,
      body,
    })
    expect(answer.status).toBe(200)
    const [received] = stage.upstream.received
    expect(received?.path).toBe(path)
    expect(text(received?.body)).toBe(body)
    expect(await recordOfAnswer(stage, answer as unknown as Response)).toMatchObject({
      credential_ref: null,
      injection_style: null,
    })
  })

  test('a policy that lists other locations only keeps the secret out of headers', async () => {
    await expectRefused(
      stage,
      agent,
      { target_url: stage.url('/x'), headers: { 'X-Key': 'SVC_SECRET_QUERY' } },
      'policy_blocked',
      'The policy of the secret QUERY does not permit this location (allowed_locations: query).',
    )
  })

  test('the rest of the policy applies to locations too', async () => {
    await agent.store('STRICT', marked('value-of-strict'), {
      policy: { allowed_locations: ['query'], allowed_paths: ['/v1/'], allowed_headers: ['x-key'] },
    })
    const call = (path: string) => ({ target_url: stage.url(`${path}?key=SVC_SECRET_STRICT`) })
    expect((await agent.resolve(call('/v1/x'))).status).toBe(200)
    await expectRefused(
      stage,
      agent,
      call('/v2/x'),
      'policy_blocked',
      'The policy of the secret STRICT does not permit this path (allowed_paths: /v1/).',
    )
  })

  test('an inserted value is redacted wherever it is returned, also in its encoded forms', async () => {
    stage.upstream.on('/echo', (request, wire) => {
      wire.write(answerOf(200, { location: request.path }, `${request.path} ${text(request.body)}`))
    })
    const call = {
      target_url: stage.url('/echo?key=SVC_SECRET_QUERY'),
      method: 'POST',
      headers: JSON_TYPE,
      body: '{"key":"SVC_SECRET_JSON"}',
    }
    const answer = await agent.resolve(call)
    expect(answer.body).toMatchObject({
      headers: { location: '/echo?key=SVC_SECRET_QUERY' },
      body: '/echo?key=SVC_SECRET_QUERY {"key":"SVC_SECRET_JSON"}',
      redacted: true,
    })
    const streamed = await streamAs(stage, agent, call)
    expect(streamed.headers.get('location')).toBe('/echo?key=SVC_SECRET_QUERY')
    expect(await streamed.text()).toBe('/echo?key=SVC_SECRET_QUERY {"key":"SVC_SECRET_JSON"}')
  })
})
