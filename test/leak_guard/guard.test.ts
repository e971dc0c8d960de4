// tier: quick
import { describe, expect, test } from 'bun:test'
import { type CallGuard, prepareGuard } from '../../src/leak_guard/guard.ts'
import { searchPool } from '../../src/leak_guard/search.ts'
import { ENCODINGS, ESCAPES, FORMS, WIDE } from './forms.ts'

const latin1 = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))
const utf8 = (text: string) => new Uint8Array(Buffer.from(text))
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString()

function guardOf(values: Record<string, string>, used: Record<string, string> = {}): CallGuard {
  const named = (record: Record<string, string>) =>
    Object.entries(record).map(([name, value]) => ({ name, bytes: utf8(value) }))
  return prepareGuard(named(values)).forCall({ used: named(used) })
}

const guarded = (guard: CallGuard, text: string) => textOf(guard.body(utf8(text)))

/** Every division into two chunks, and single bytes, give the result of the whole. */
function expectSameInChunks(guard: CallGuard, body: Uint8Array): void {
  const whole = Buffer.from(guard.body(body)).toString('latin1')
  for (let at = 0; at <= body.length; at++) {
    const stream = guard.stream()
    const pieces = [
      stream.push(body.subarray(0, at)),
      stream.push(body.subarray(at)),
      stream.flush(),
    ]
    expect(Buffer.concat(pieces).toString('latin1')).toBe(whole)
  }
  const stream = guard.stream()
  const pieces = Array.from(body, (byte) => stream.push(Uint8Array.of(byte)))
  expect(Buffer.concat([...pieces, stream.flush()]).toString('latin1')).toBe(whole)
}

const SECRETS = {
  token: 'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
  punctuated: `p"a\\s/s'<w>&ö%r😀d +\n=x9`,
  short: 'hunter2!',
  latin: 'pässwörd-äöü',
}

describe('a value that the upstream echoes', () => {
  for (const [kind, secret] of Object.entries(SECRETS)) {
    const guard = guardOf({ KEY: secret })
    test.each(Object.entries(FORMS))(
      `${kind}: an echoed value is replaced when written as %s`,
      (_, form) => {
        const body = `<<${form(secret)}>>`
        expect(guarded(guard, body).replaceAll('"', '')).toMatch(/^<<SVC_SECRET_KEY=*>>$/)
        expectSameInChunks(guard, utf8(body))
      },
    )

    test.each(Object.entries(WIDE))(`${kind}: an echoed value is replaced in %s`, (_, form) => {
      for (const before of ['', 'x']) {
        const body = latin1(`\x01${before}${form(secret)}\x01\x01`)
        expect(textOf(guard.body(body))).toContain('SVC_SECRET_KEY')
        expectSameInChunks(guard, body)
      }
    })
  }

  test.each([0, 1, 2])(
    'a value is replaced in base64 at alignment %d, whatever is around it',
    (more) => {
      const guard = guardOf({ KEY: SECRETS.token })
      for (let after = 0; after < 3; after++) {
        const text = `${'\x11'.repeat(more)}${SECRETS.token}${'\xff'.repeat(after)}`
        const encoded = Buffer.from(text, 'latin1').toString('base64')
        for (const before of ['', 'A', 'AB', 'ABC']) {
          const output = guarded(guard, `<${before}${encoded}>`)
          expect(output).toContain('SVC_SECRET_KEY')
          expect(output.length).toBeLessThan(30)
        }
      }
    },
  )

  test('a short value that the call used is found in every form too', () => {
    for (const secret of ['abcd', 'p@ss', 'xy zw', '>>>???']) {
      const guard = guardOf({}, { PIN: secret })
      for (const form of Object.values({ ...FORMS })) {
        const output = guarded(guard, `<<${form(secret)}>>`).replaceAll('"', '')
        expect(output).toMatch(/^<<SVC_SECRET_PIN=*>>$/)
      }
    }
    expect(guarded(guardOf({}, { PIN: 'abc' }), '<abc>')).toBe('<abc>')
    expect(guarded(guardOf({ PIN: 'abcdefg' }), '<abcdefg>')).toBe('<abcdefg>')
  })
})

describe('two layers', () => {
  const both = { ...ESCAPES, ...ENCODINGS }
  const pairs = Object.entries(both).flatMap(([outer, write]) =>
    Object.entries(both).map(([inner, first]) => [`${outer} of ${inner}`, write, first] as const),
  )
  test.each(pairs)('%s', (_, outer, inner) => {
    for (const secret of [SECRETS.token, SECRETS.punctuated]) {
      const guard = guardOf({ KEY: secret })
      const output = guarded(guard, `<<${outer(inner(secret))}>>`)
      expect(output).toContain('SVC_SECRET_KEY')
      expect(output.length).toBeLessThan(60)
    }
  })

  test('two layers of a value that itself contains escapes are found', () => {
    const secret = 'postgres://u:p%40ss\\n&amp;w0rd%2541@h/db'
    const guard = guardOf({ KEY: secret })
    for (const outer of Object.values(ESCAPES)) {
      expect(guarded(guard, `<<${outer(secret)}>>`)).toBe('<<SVC_SECRET_KEY>>')
      for (const inner of Object.values(ESCAPES)) {
        expect(guarded(guard, `<<${outer(inner(secret))}>>`)).toBe('<<SVC_SECRET_KEY>>')
      }
    }
  })
})

test('a search of one answer keeps nothing for the next', () => {
  const secret = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc'
  const guard = prepareGuard([{ name: 'KEY', bytes: utf8(secret) }]).forCall()
  const text = `{"a":"${secret}","b":"x\\n\\u0073${btoa(secret)}","c":"${Buffer.from(secret).toString('hex')}"}`
  for (const body of [text, text.repeat(200)]) {
    guard.body(utf8(body))
    const stream = guard.stream()
    stream.push(utf8(body))
    stream.flush()
  }
  expect(guard.headerValue(secret)).toBe('SVC_SECRET_KEY')
  expect(guard.isGuardedName(`x-${secret}`)).toBe(true)
  const kept = [...searchPool.free.values()].flat()
  expect(kept.length).toBeGreaterThan(3)
  for (const { feed } of kept) {
    expect(feed.memory.taken.every((bytes) => bytes.every((byte) => byte === 0))).toBe(true)
  }
})

test('few searches are kept, and another guard finds its own values with them', () => {
  const guards = Array.from({ length: 20 }, (_, at) =>
    prepareGuard([{ name: `K${at}`, bytes: utf8(`value-number-${at}-of-20`) }]).forCall(),
  )
  const text = guards.map((_, at) => `value-number-${at}-of-20`).join(' ')
  const streams = guards.map((guard) => guard.stream())
  const halves = streams.map((stream) => [
    stream.push(utf8(text.slice(0, 200))),
    stream.push(utf8(text.slice(200))),
    stream.flush(),
  ])
  for (const [at, pieces] of halves.entries()) {
    const output = Buffer.concat(pieces).toString()
    expect(output).toBe(text.replace(`value-number-${at}-of-20`, `SVC_SECRET_K${at}`))
  }
  for (const free of searchPool.free.values()) expect(free.length).toBeLessThanOrEqual(4)
})

describe('UTF-16 inside UTF-16, which is also UTF-32', () => {
  const VALUE = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc'
  const guard = prepareGuard([{ name: 'KEY', bytes: new Uint8Array(Buffer.from(VALUE)) }])
  const little = (bytes: Uint8Array) =>
    Buffer.from(Buffer.from(bytes).toString('latin1'), 'utf16le')
  const big = (bytes: Uint8Array) => little(bytes).swap16()
  test.each([
    ['little and little', little, little],
    ['little and big', little, big],
    ['big and little', big, little],
    ['big and big', big, big],
  ])('%s endian UTF-16 is found, whole and byte by byte', (_, inner, outer) => {
    const echoed = new Uint8Array(outer(inner(Buffer.from(`it is ${VALUE}!`))))
    const stream = guard.forCall().stream()
    const pieces = [...echoed].map((byte) => stream.push(Uint8Array.of(byte)))
    for (const seen of [guard.forCall().body(echoed), Buffer.concat([...pieces, stream.flush()])]) {
      const text = Buffer.from(seen).toString('latin1').replaceAll('\0', '')
      expect(text).toContain('SVC_SECRET_KEY')
      expect(text).not.toContain(VALUE.slice(8))
    }
  })
})
