// tier: quick
import { describe, expect, test } from 'bun:test'
import { BodyMemory } from '../../src/core/body_memory.ts'
import { readJsonBody as readBody } from '../../src/http/request_body.ts'

type Options = Omit<Parameters<typeof readBody>[1], 'account'>

const readJsonBody = async (request: Request, options: Options) => {
  const account = new BodyMemory().open('workspace')
  return (await readBody(request, { ...options, account }))?.value
}

const JSON_TYPE = { 'content-type': 'application/json' }

function request(body: BodyInit | null, headers: Record<string, string> = JSON_TYPE): Request {
  return new Request('http://localhost/', { method: 'POST', headers, body })
}

/** Chunks without a declared length, and how many of them were read. */
function chunks(count: number, size: number) {
  const taken = { count: 0 }
  const stream = new ReadableStream({
    pull(controller) {
      if (taken.count === count) return controller.close()
      taken.count += 1
      controller.enqueue(new Uint8Array(size).fill(0x20))
    },
  })
  return { stream, taken }
}

const codeOf = (reading: Promise<unknown>) =>
  reading.then(
    () => 'accepted',
    (fault: { code: string }) => fault.code,
  )

describe('the media type', () => {
  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json ; charset=utf-8',
    'application/json; profile=x',
  ])('%s is JSON', async (type) => {
    expect(await readJsonBody(request('{"a":1}', { 'content-type': type }), {})).toEqual({ a: 1 })
  })
  test.each([
    '',
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/json, text/plain',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=application/json',
  ])('%p is not', async (type) => {
    const reading = readJsonBody(request('{}', { 'content-type': type }), {})
    expect(await codeOf(reading)).toBe('unsupported_media_type')
  })
  test.each(['gzip', 'br', 'zstd', 'identity, gzip', ''])(
    'content coding %p is rejected',
    async (coding) => {
      const headers = { ...JSON_TYPE, 'content-encoding': coding }
      const code = await codeOf(readJsonBody(request('{}', headers), {}))
      expect(code).toBe('unsupported_media_type')
    },
  )
  test('an optional body that is present must be JSON too', async () => {
    const plain = request('{}', { 'content-type': 'text/plain' })
    expect(await codeOf(readJsonBody(plain, { optional: true }))).toBe('unsupported_media_type')
    expect(await readJsonBody(request(null, {}), { optional: true })).toBeUndefined()
    expect(await readJsonBody(request('', JSON_TYPE), { optional: true })).toBeUndefined()
  })
})

describe('the memory', () => {
  test('memory is refused before a byte is read, whether the length is declared or not', async () => {
    for (const length of [{ 'content-length': '70000' }, {}]) {
      const { stream, taken } = chunks(70, 1000)
      const memory = new BodyMemory(65_536, 1)
      memory.open('another').take(1)
      const sent = request(stream, { ...JSON_TYPE, ...length } as Record<string, string>)
      const before = taken.count
      const account = memory.open('workspace')
      expect(await codeOf(readBody(sent, { account }))).toMatch(/unavailable|rate_limited/)
      expect(taken.count - before).toBeLessThanOrEqual(1)
    }
  })

  test('memory is counted in portions while a body without a declared length arrives', async () => {
    const { stream, taken } = chunks(1000, 1000)
    const account = new BodyMemory(4 * 131_072).open('workspace')
    expect(await codeOf(readBody(request(stream), { account }))).toBe('rate_limited')
    expect(taken.count).toBeGreaterThan(100)
    expect(taken.count).toBeLessThan(140)
  })
})

describe('the size', () => {
  test('a body is rejected by its declared size, before a byte is read', async () => {
    const { stream, taken } = chunks(1000, 1000)
    const announced = request(stream, { ...JSON_TYPE, 'content-length': '1000000' })
    const before = taken.count
    expect(await codeOf(readJsonBody(announced, { limit: 999_999 }))).toBe('payload_too_large')
    expect(taken.count - before).toBeLessThanOrEqual(1)
  })

  test("a body's size is counted while it arrives, and reading stops at the limit", async () => {
    const { stream, taken } = chunks(1000, 1000)
    expect(await codeOf(readJsonBody(request(stream), { limit: 5000 }))).toBe('payload_too_large')
    expect(taken.count).toBeLessThan(10)
  })

  test("a body's limit is 1 MiB unless the contract sets another", async () => {
    const text = (size: number) => `"${'a'.repeat(size - 2)}"`
    expect(await codeOf(readJsonBody(request(text(1_048_576)), {}))).toBe('accepted')
    expect(await codeOf(readJsonBody(request(text(1_048_577)), {}))).toBe('payload_too_large')
    expect(await codeOf(readJsonBody(request(text(1_048_577)), { limit: 2_000_000 }))).toBe(
      'accepted',
    )
  })

  test("a body's limit counts bytes, not characters", async () => {
    const code = await codeOf(readJsonBody(request('"ééé"'), { limit: 7 }))
    expect(code).toBe('payload_too_large')
    expect(await readJsonBody(request('"ééé"'), { limit: 8 })).toBe('ééé')
  })
})

test('a body that breaks off is the caller’s fault', async () => {
  const broken = new ReadableStream({
    pull(controller) {
      controller.error(new Error('the connection was closed'))
    },
  })
  expect(await codeOf(readJsonBody(request(broken), {}))).toBe('malformed_json')
})
