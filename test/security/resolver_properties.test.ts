// tier: quick
/**
 * Properties that must hold for any generated input, on the real listener: which address is dialled and under
 * which name, which values are inserted, and that no byte of them comes back. Each check is written
 * independently of the code that it checks.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { URL as SecondUrl } from 'whatwg-url'
import { ENCODERS, encodeAll } from '../leak_guard/encodings.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { effort } from '../support/effort.ts'
import { chunked } from '../support/upstream.ts'
import { urls } from './urls.ts'

const URL_RUNS = effort(100, 800)
const CALL_RUNS = effort(60, 500)

const NAME = 'api.example.com'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await openStage({
    names: [NAME],
    env: { RATE_API: '1000000/1', RATE_TOKEN: '1000000/1' },
  })
  agent = await createAgentWithToken(stage)
  await agent.allow(`${NAME}:${stage.upstream.port}`)
}, 30_000)
beforeEach(() => {
  stage.upstream.received.length = 0
})
afterAll(() => stage.stop())

test('for any URL and DNS answers, only the listed name is looked up and only its permitted address is dialled', async () => {
  const address = fc.constantFrom(
    '127.0.0.1',
    '127.0.0.2',
    '10.0.0.1',
    '169.254.169.254',
    '::1',
    '::ffff:127.0.0.1',
  )
  const answers = fc.oneof(
    fc.constant(['127.0.0.1']),
    fc.array(address, { minLength: 1, maxLength: 3 }),
  )
  const usual = fc.constant(stage.url('/', NAME))
  const target = fc.oneof(
    { weight: 4, arbitrary: urls([stage.upstream.port]) },
    { weight: 1, arbitrary: usual },
  )
  let served = 0
  await fc.assert(
    fc.asyncProperty(target, answers, async (url, addresses) => {
      stage.names.set(NAME, [...addresses])
      stage.lookups.length = 0
      const [bytes, before] = [stage.upstream.bytes, stage.upstream.received.length]
      const answer = await agent.resolve({ target_url: url })
      expect(new Set(stage.lookups).difference(new Set([NAME]))).toEqual(new Set())
      expect(stage.lookups.length).toBeLessThanOrEqual(1)
      if (answer.status !== 200) return expect(stage.upstream.bytes).toBe(bytes)
      served += 1
      const second = new SecondUrl(url)
      expect(new Set(addresses)).toEqual(new Set(['127.0.0.1']))
      expect({
        host: second.hostname.replace(/\.$/, ''),
        port: Number(second.port),
        wire: stage.upstream.received
          .slice(before)
          .map(({ path, header }) => [header('host'), path]),
      }).toEqual({
        host: NAME,
        port: stage.upstream.port,
        wire: [[stage.authorityOf(NAME), second.pathname + second.search]],
      })
    }),
    { numRuns: URL_RUNS },
  )
  // Most URLs are rejected.
  expect(served).toBeGreaterThan(URL_RUNS / 30)
})

test('for any headers, names and secrets, each placeholder is inserted once, or nothing is sent', async () => {
  const known: Record<string, string> = {
    A: 'value-of-a',
    A_B: 'SVC_SECRET_A',
    a: 'lower/case',
    HALF: 'SVC_SECRET',
    TAIL: '_A',
    SPACED: ' SVC_SECRET_TAIL SVC_SECRET_HALF ',
    BASIC: 'Basic U1ZDX1NFQ1JFVF9B',
    LINE: 'x\r\nX-Injected: SVC_SECRET_A',
  }
  for (const [key, value] of Object.entries(known)) await agent.store(key, value)
  const piece = fc.oneof(
    fc.constantFrom(...Object.keys(known).map((name) => `SVC_SECRET_${name}`)),
    fc.constantFrom(
      'SVC_SECRET_',
      'SVC_',
      'SECRET_A',
      'A',
      '_',
      '.',
      ' ',
      ',',
      'x',
      'SVC_SECRET_NONE',
    ),
    fc.stringMatching(/^[ -~]{0,4}$/),
  )
  const value = fc
    .array(piece, { minLength: 1, maxLength: 5 })
    .map((pieces) => pieces.join('').trim())
  const names = fc.constantFrom('X-Key', 'Authorization', 'Cookie', 'x-a', 'Accept')
  const headers = fc.dictionary(names, value, { minKeys: 1, maxKeys: 3 })
  let [sent, refused] = [0, 0]
  await fc.assert(
    fc.asyncProperty(headers, async (given) => {
      const expected = Object.entries(given).map(([name, text]) => [name, expand(text, known)])
      const [bytes, before] = [stage.upstream.bytes, stage.upstream.received.length]
      const { status } = await agent.resolve({ target_url: stage.url('/injected'), headers: given })
      if (expected.some(([, text]) => text === null)) {
        refused += 1
        expect([400, 422]).toContain(status)
        expect(stage.upstream.bytes).toBe(bytes)
        return
      }
      sent += 1
      expect(status).toBe(200)
      const [received] = stage.upstream.received.slice(before)
      for (const [name, text] of expected)
        expect(received?.header(String(name).toLowerCase())).toBe(text?.trim())
    }),
    { numRuns: CALL_RUNS },
  )
  expect(Math.min(sent, refused)).toBeGreaterThan(CALL_RUNS / 20)
})

/** One pass with the longest name; `null` if the call must be rejected. */
function expand(text: string, known: Record<string, string>): string | null {
  let isRefused = false
  const filled = text.replace(/SVC_SECRET_([A-Za-z0-9_]*)/g, (_, name: string) => {
    const value = Object.hasOwn(known, name) ? known[name] : undefined
    if (value === undefined || value.includes('\n') || value.trim() !== value) isRefused = true
    return value ?? ''
  })
  return isRefused ? null : filled
}

const CODINGS = {
  identity: (bytes: Buffer) => bytes,
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
}

/** Forms regardless of the surrounding text, and base64 at each alignment. */
function disguisesOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const aligned = ['', 'x', 'xy'].map((lead) => Buffer.concat([Buffer.from(lead), bytes]))
  return [
    ...Object.values(ENCODERS).map((encoder) => encodeAll(secret, encoder)),
    ...aligned.flatMap((text) => [text.toString('base64'), text.toString('base64url')]),
    ...[bytes.toString('hex'), bytes.toString('hex').toUpperCase()],
    Buffer.from(`ada:${secret}`).toString('base64'),
  ]
}

/** The part of a text's base64 that is the same in every alignment: without the digits that mix with neighbours. */
function tracesOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const cores = [0, 1, 2].flatMap((lead) => {
    const text = Buffer.concat([Buffer.alloc(lead), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const core = text.slice(Math.ceil((lead * 8) / 6), Math.floor(((lead + bytes.length) * 8) / 6))
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')]
  })
  const plain = Object.values(ENCODERS).map((encoder) => encodeAll(secret, encoder))
  return [...plain, ...cores, bytes.toString('hex'), bytes.toString('hex').toUpperCase()]
}

test('for any secret, no form of it is in the answer: body and headers, every coding, every cut', async () => {
  const text = fc.oneof(
    fc.stringMatching(/^[!-~]{6,24}$/),
    fc.stringMatching(/^[ -~é€😀"\\<&%+]{6,16}$/u).filter((value) => value.trim() === value),
  )
  const scene = fc.record({
    secret: text.map((value) => marked(`${value.toWellFormed()}-`)),
    coding: fc.constantFrom(...(Object.keys(CODINGS) as (keyof typeof CODINGS)[])),
    cut: fc.integer({ min: 1, max: 60 }),
    between: fc.stringMatching(/^[ -~]{0,6}$/),
    stream: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(scene, async ({ secret, coding, cut, between, stream }) => {
      await agent.store('ECHOED', secret)
      const disguises = disguisesOf(secret)
      const body = CODINGS[coding](Buffer.from(disguises.join(`\n${between}\n`)))
      const pieces = Array.from({ length: Math.ceil(body.length / cut) }, (_, at) =>
        body.subarray(at * cut, (at + 1) * cut),
      )
      const lines = disguises
        .filter((value) => /^[ -~]+$/.test(value))
        .map((value, at) => `x-echo-${at}: ${value}\r\n`)
      const head = `HTTP/1.1 200 X\r\ncontent-encoding: ${coding}\r\ntransfer-encoding: chunked\r\n${lines.join('')}\r\n`
      stage.upstream.on('/echo', Buffer.concat([Buffer.from(head), chunked(pieces)]))
      const response = await fetch(`${stage.app.resolver}/v1/resolve`, {
        method: 'POST',
        headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          target_url: stage.url('/echo'),
          headers: { Authorization: `Basic ${btoa('ada:SVC_SECRET_ECHOED')}` },
          stream,
        }),
      })
      const raw = await response.text()
      const shown = stream ? '' : JSON.parse(raw)
      const places = [
        raw,
        shown.body ?? '',
        JSON.stringify(shown.headers ?? ''),
        JSON.stringify([...response.headers]),
      ]
      expect(response.status).toBe(200)
      expect(raw).toContain('SVC_SECRET_ECHOED')
      // The whole pair becomes what the caller sent, in base64.
      const [pair, others] = [btoa('ada:SVC_SECRET_ECHOED'), disguises.length - 1]
      expect(raw.split('SVC_SECRET_ECHOED').length).toBeGreaterThan(others)
      expect(raw).toContain(pair)
      for (const trace of tracesOf(secret))
        expect({ tell: trace, found: places.some((place) => place.includes(trace)) }).toEqual({
          tell: trace,
          found: false,
        })
    }),
    { numRuns: effort(20, 150) },
  )
})
