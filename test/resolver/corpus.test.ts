// tier: quick
/** Target, placeholders and leak guard: saved inputs, and a fuzzer's variations of them. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { URL as SecondUrl } from 'whatwg-url'
import { Fault } from '../../src/core/fault.ts'
import { Secret } from '../../src/core/secret.ts'
import { type CallGuard, prepareGuard } from '../../src/leak_guard/index.ts'
import { injectPlaceholders } from '../../src/outbound/injection/placeholders.ts'
import { parseTarget } from '../../src/outbound/target.ts'
import bodies from '../corpus/leak_guard/bodies.json' with { type: 'json' }
import { mutated } from '../corpus/mutated.ts'
import placeholders from '../corpus/placeholders/headers.json' with { type: 'json' }
import targets from '../corpus/targets/urls.json' with { type: 'json' }

const RUNS = { numRuns: 2000 }

const bytes = (text: string) => new Uint8Array(Buffer.from(text))

/** The result of a function, or the code of the fault that it throws. */
function outcomeOf<T>(act: () => T): T | { code: string } {
  try {
    return act()
  } catch (error) {
    if (error instanceof Fault) return { code: error.code }
    throw error
  }
}

describe('targets', () => {
  test.each(targets)('$name', ({ text, code, authority, path }) => {
    const outcome = outcomeOf(() => {
      const target = parseTarget(text)
      return { authority: target.authority, path: target.path }
    })
    expect<unknown>(outcome).toEqual(code === undefined ? { authority, path } : { code })
  })

  test('a second parser reads any mutated accepted input the same way', () => {
    const pieces = [
      '@',
      '#',
      '?',
      '/',
      '\\',
      '%',
      '.',
      ':',
      '[',
      ']',
      '。',
      'ⓔ',
      '\t',
      'xn--',
      '%2e',
    ]
    const saved = [...targets.map(({ text }) => text), 'https://api.example.com:8443/v1/./x?y=z#f']
    let accepted = 0
    fc.assert(
      fc.property(mutated(saved, pieces), (text) => {
        const outcome = outcomeOf(() => parseTarget(text))
        if ('code' in outcome) return expect(outcome.code).toBe('invalid_target')
        accepted += 1
        const second = new SecondUrl(text)
        expect(outcome).toMatchObject({
          host: second.hostname.replace(/\.$/, ''),
          port: second.port === '' ? 443 : Number(second.port),
          path: second.pathname,
          search: second.search,
        })
        expect([second.protocol, second.username, second.password]).toEqual(['https:', '', ''])
      }),
      RUNS,
    )
    expect(accepted).toBeGreaterThan(50)
  })
})

describe('placeholders', () => {
  test.each(placeholders)('$name', ({ headers, secrets, injected, code }) => {
    const values = new Map(Object.entries(secrets).map(([name, v]) => [name, new Secret(bytes(v))]))
    const outcome = outcomeOf(
      () => injectPlaceholders(Object.entries(headers), values).reveal().headers,
    )
    expect<unknown>(outcome).toEqual(injected === undefined ? { code } : Object.entries(injected))
  })

  const known = {
    A: 'value-a',
    A_B: 'SVC_SECRET_A',
    HALF: 'SVC_SECRET',
    NAME: '_A',
    EMPTY: '',
    BIN: '\r\n\0',
  }
  const texts = placeholders.flatMap(({ headers }) => Object.values<string>(headers))
  const pieces = [
    'SVC_SECRET_',
    'SVC_SECRET_A',
    'SVC_',
    '_',
    'A',
    'A_B',
    'HALF',
    'NAME',
    'BIN',
    '.',
  ]
  const changed = mutated(texts, pieces).map((text) => text.toWellFormed())

  /** One pass over the text, by a pattern: the name is the longest run of its characters. */
  function expand(text: string, isSendable: (value: string) => boolean): string | { code: string } {
    let code: string | undefined
    const filled = text.replace(/SVC_SECRET_(\w*)/g, (_, name: string) => {
      const value = new Map(Object.entries(known)).get(name)
      if (!/^[A-Za-z_]\w{0,127}$/.test(name)) code = 'invalid_header'
      else if (value === undefined) code ??= 'unknown_secret'
      else if (!isSendable(value)) code ??= 'unusable_secret'
      return value ?? ''
    })
    return code === undefined ? filled : { code }
  }

  function inject(name: string, value: string): string | { code: string } {
    const values = new Map(Object.entries(known).map(([key, v]) => [key, new Secret(bytes(v))]))
    return outcomeOf(
      () => injectPlaceholders([[name, value]], values).reveal().headers[0]?.[1] ?? '',
    )
  }

  /** A text with several faults may report either of them: it only matters that the text is rejected. */
  const refusedOr = (outcome: string | { code: string }) =>
    typeof outcome === 'string' ? outcome : 'refused'

  test('each mutated placeholder is expanded once, or the call is rejected', () => {
    let [filled, refused] = [0, 0]
    fc.assert(
      fc.property(changed, (text) => {
        const expected = refusedOr(expand(text, (value) => /^[\t\x20-\x7e]*$/.test(value)))
        expect(refusedOr(inject('X-Key', text))).toBe(expected)
        const inBasic = refusedOr(expand(text, () => true))
        const encoded = inBasic === 'refused' ? inBasic : `Basic ${btoaUtf8(inBasic)}`
        expect(refusedOr(inject('Authorization', `Basic ${btoaUtf8(text)}`))).toBe(encoded)
        if (expected === 'refused') refused += 1
        else if (expected !== text) filled += 1
      }),
      RUNS,
    )
    expect(Math.min(filled, refused)).toBeGreaterThan(50)
  })
})

describe('bodies', () => {
  const cases = bodies.map((entry) => ({ ...entry, guard: guardOf(entry) }))

  test.each(cases)('$name', ({ guard, body, output }) => {
    const text = new Uint8Array(Buffer.from(body, 'latin1'))
    expect(Buffer.from(guard.body(text)).toString('latin1')).toBe(output)
    expect(inPieces(guard, text, [1])).toBe(output)
  })

  test('the pieces of a mutated text, however it is cut, give the result of the whole', () => {
    const pieces = ['%', '%4', '%41', '&', '&#', '&amp;', '\\', '\\u00', '+', '=', '5b', 'YWJj']
    const changed = cases.map((entry) =>
      fc.tuple(
        fc.constant(entry),
        mutated([entry.body, [...entry.used, ...entry.values].join('')], pieces),
      ),
    )
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 })
    let replaced = 0
    fc.assert(
      fc.property(fc.oneof(...changed), cuts, ([{ guard, used, values }, body], sizes) => {
        const text = new Uint8Array(Buffer.from(body, 'latin1'))
        const whole = Buffer.from(guard.body(text))
        expect(inPieces(guard, text, sizes)).toBe(whole.toString('latin1'))
        for (const secret of [...used, ...values]) expect(whole.includes(secret)).toBe(false)
        if (whole.includes('SVC_SECRET_K')) replaced += 1
      }),
      RUNS,
    )
    expect(replaced).toBeGreaterThan(50)
  })
})

type Guarded = { values: string[]; used: string[] }

function guardOf({ values, used }: Guarded): CallGuard {
  const named = (list: readonly string[]) =>
    list.map((value, at) => ({ name: `K${at}`, bytes: bytes(value) }))
  return prepareGuard(named([...values, ...used])).forCall({ used: named(used) })
}

/** Each piece is in reused memory, which a reader may do. */
function inPieces(guard: CallGuard, text: Uint8Array, sizes: readonly number[]): string {
  const stream = guard.stream()
  const parts: Uint8Array[] = []
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const piece = text.slice(at, at + (sizes[turn % sizes.length] ?? 1))
    parts.push(stream.push(piece).slice())
    at += piece.length
    piece.fill(0)
  }
  return Buffer.concat([...parts, stream.flush()]).toString('latin1')
}

function btoaUtf8(text: string): string {
  return Buffer.from(text).toString('base64')
}
