// tier: quick
/** References (protocol 3.5): a table of single values, and then of several values together. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references look like placeholders of templates
import { describe, expect, test } from 'bun:test'
import type { Policy } from '../../../src/core/policy/policy.ts'
import {
  referencesIn,
  resolveReferences,
  UnresolvedReference,
} from '../../../src/core/policy/references.ts'

const MARKED: Policy = { references: true }
const MALFORMED = '${ in X is not followed by a name and }: write $${ for literal text'

type Environment = Record<string, string | [value: string, policy: Policy]>

/** A value without a policy is a text; one with a policy is a pair in brackets. */
const entriesOf = (environment: Environment) =>
  new Map(
    Object.entries(environment).map(([name, said]) => {
      const [value, policy] = typeof said === 'string' ? [said, null] : said
      return [name, { value, policy }]
    }),
  )

const resolve = (environment: Environment, ...names: string[]) => {
  const entries = entriesOf(environment)
  const resolved = resolveReferences(entries, names.length > 0 ? names : entries.keys())
  return Object.fromEntries([...resolved].map(([name, { value }]) => [name, value]))
}

function reasonsOf(act: () => unknown): readonly string[] {
  try {
    act()
  } catch (error) {
    if (error instanceof UnresolvedReference) return error.reasons
    throw error
  }
  return []
}

const BESIDE = { A: 'a-value', B_2: 'b', _: 'under', EMPTY: '', LIKE: '${A}', DOLLAR: '$' }

/** A marked value, and the value that programs get; `null` means malformed. */
const cases: [value: string, resolved: string | null][] = [
  ['', ''],
  ['no reference', 'no reference'],
  ['${A}', 'a-value'],
  ['${A}${A}', 'a-valuea-value'],
  ['x${A}y${B_2}z', 'xa-valueybz'],
  ['${_}', 'under'],
  ['<${EMPTY}>', '<>'],
  ['postgres://${A}:${B_2}@host:5432/db?x=1', 'postgres://a-value:b@host:5432/db?x=1'],
  ['line one ${A}\nline two ${B_2}\n', 'line one a-value\nline two b\n'],
  ['ü ${A} \u{1f511}', 'ü a-value \u{1f511}'],
  // Inserted text is not searched again.
  ['${LIKE}', '${A}'],
  ['${DOLLAR}{A}', '${A}'],
  ['${DOLLAR}${A}', '$a-value'],
  // Two dollar signs before a brace are one in the text, and elsewhere they are unchanged.
  ['$${A}', '${A}'],
  ['$$${A}', '$a-value'],
  ['$$$${A}', '$${A}'],
  ['$$$$${A}', '$$a-value'],
  ['$${', '${'],
  ['$${A', '${A'],
  ['$${{ github.sha }}', '${{ github.sha }}'],
  ['$${A:-x}', '${A:-x}'],
  ['a$$b $$ $', 'a$$b $$ $'],
  ['$A $B_2 $(date) $1 $', '$A $B_2 $(date) $1 $'],
  ['{A} {{ A }} }{', '{A} {{ A }} }{'],
  ['$ {A}', '$ {A}'],
  ['$2b$10$abcdefghijk', '$2b$10$abcdefghijk'],
  ['\\${A}', '\\a-value'],
  // Neither a reference nor escaped, so its meaning is ambiguous.
  ['${', null],
  ['${}', null],
  ['${A', null],
  ['${ A }', null],
  ['${1A}', null],
  ['${A-B}', null],
  ['${A:-default}', null],
  ['${A.B}', null],
  ['${${A}}', null],
  ['${{ A }}', null],
  ['${ä}', null],
  [`\${${'N'.repeat(129)}}`, null],
  ['${A} and ${', null],
]

describe('a marked value', () => {
  for (const [value, resolved] of cases) {
    test(`${JSON.stringify(value.slice(0, 50))} is ${resolved === null ? 'malformed' : JSON.stringify(resolved)}`, () => {
      const environment: Environment = { ...BESIDE, X: [value, MARKED] }
      if (resolved !== null) expect(resolve(environment, 'X')).toEqual({ X: resolved })
      else expect(reasonsOf(() => resolve(environment, 'X'))).toEqual([MALFORMED])
    })
  }

  test('a value that is not marked is delivered byte for byte, whatever it looks like', () => {
    const values = Object.fromEntries(cases.map(([value], at) => [`V${at}`, value]))
    expect(resolve({ ...values, A: 'a' })).toEqual({ ...values, A: 'a' })
    const odd: Policy = { references: undefined } as Policy
    expect(resolve({ X: ['${A}', odd], A: 'a' }, 'X')).toEqual({ X: '${A}' })
  })

  test('a marked value returns the names that it refers to', () => {
    expect(referencesIn('X', 'a${B}${C}$${D}${B}')).toEqual(['B', 'C', 'B'])
    expect(reasonsOf(() => referencesIn('X', '${B'))).toEqual([MALFORMED])
  })
})

describe('several', () => {
  test('references are resolved through each other, in any order', () => {
    const chain: Environment = {
      A: ['${B}!', MARKED],
      B: ['${C}?', MARKED],
      C: 'c',
      D: ['${A}${B}${C}', MARKED],
    }
    expect(resolve(chain)).toEqual({ A: 'c?!', B: 'c?', C: 'c', D: 'c?!c?c' })
  })

  test('only requested references are resolved: other broken ones do not matter', () => {
    const environment: Environment = { A: ['${B}', MARKED], B: 'b', X: ['${GONE}', MARKED] }
    expect(resolve(environment, 'A')).toEqual({ A: 'b' })
    expect(reasonsOf(() => resolve(environment))).toEqual([
      'X refers to GONE, which does not exist, or whose policy excludes it from environments',
    ])
  })

  test('invalid references are rejected with all reasons, each once', () => {
    const environment: Environment = {
      A: ['${B}', MARKED],
      B: ['${GONE}', MARKED],
      C: ['${HIDDEN}', MARKED],
      HIDDEN: ['kept', { allowed_locations: ['header'] }],
      X: ['${', MARKED],
    }
    expect(reasonsOf(() => resolve(environment))).toEqual([
      'B refers to GONE, which does not exist, or whose policy excludes it from environments',
      'C refers to HIDDEN, which does not exist, or whose policy excludes it from environments',
      MALFORMED,
    ])
  })

  test('references reach only secrets that programs may have, also through another', () => {
    const environment: Environment = {
      A: ['${B}', MARKED],
      B: ['${C}', { ...MARKED, allowed_locations: ['env'] }],
      C: ['kept', { allowed_locations: ['query'] }],
    }
    const kept = [
      'B refers to C, which does not exist, or whose policy excludes it from environments',
    ]
    expect(reasonsOf(() => resolve(environment, 'A'))).toEqual(kept)
  })

  test('a circle of references is rejected, with its path', () => {
    expect(reasonsOf(() => resolve({ A: ['${A}', MARKED] }))).toEqual([
      'A refers to A: this is a circular reference',
    ])
    const three: Environment = {
      A: ['${B}', MARKED],
      B: ['${C}', MARKED],
      C: ['${A}', MARKED],
      IN: ['${A}', MARKED],
    }
    expect(reasonsOf(() => resolve(three, 'IN'))).toEqual([
      'A refers to B refers to C refers to A: this is a circular reference',
    ])
  })

  test('names of object properties are not found', () => {
    for (const name of ['toString', 'hasOwnProperty', '__proto__', 'constructor']) {
      expect(reasonsOf(() => resolve({ X: [`\${${name}}`, MARKED] }))).toEqual([
        `X refers to ${name}, which does not exist, or whose policy excludes it from environments`,
      ])
    }
  })
})

describe('an inserted secret', () => {
  const sensitivityOf = (environment: Environment, name: string) =>
    resolveReferences(entriesOf(environment)).get(name)?.isSensitive

  test('an inserted secret makes the setting that refers to it a secret, at any distance', () => {
    const SETTING: Policy = { sensitive: false }
    const environment: Environment = {
      URL: ['http://${HOST}/', { ...MARKED, ...SETTING }],
      HOST: ['${NAME}.example', { ...MARKED, ...SETTING }],
      NAME: 'secret',
      PORT: ['8080', SETTING],
      PLACE: ['here:${PORT}', { ...MARKED, ...SETTING }],
    }
    expect(sensitivityOf(environment, 'URL')).toBe(true)
    expect(sensitivityOf(environment, 'HOST')).toBe(true)
    expect(sensitivityOf(environment, 'PLACE')).toBe(false)
    expect(sensitivityOf(environment, 'PORT')).toBe(false)
  })
})

describe('references that would grow endlessly are rejected', () => {
  const isTooMuch = (environment: Environment) =>
    reasonsOf(() => resolve(environment)).some((reason) =>
      reason.endsWith('are too many, too deep or too long'),
    )
  /** Each refers to the next one the given number of times. */
  const ladder = (steps: number, times: number): Environment =>
    Object.fromEntries([
      ...Array.from({ length: steps }, (_, at) => [
        `L${at}`,
        [`\${L${at + 1}}`.repeat(times), MARKED],
      ]),
      [`L${steps}`, 'x'],
    ])

  test('values that double at each of thirty steps are rejected', () => {
    expect(isTooMuch(ladder(30, 2))).toBe(true)
    expect(isTooMuch(ladder(10, 2))).toBe(false)
  })

  test('ten thousand empty substitutions are rejected, in one value or in many', () => {
    const many = (count: number): Environment => ({
      X: ['${E}'.repeat(count), MARKED],
      E: '',
    })
    expect(isTooMuch(many(9_999))).toBe(false)
    expect(isTooMuch(many(10_001))).toBe(true)
    const spread = Object.fromEntries(
      Array.from({ length: 11 }, (_, at) => [`X${at}`, ['${E}'.repeat(1_000), MARKED]]),
    )
    expect(isTooMuch({ ...spread, E: '' })).toBe(true)
  })

  test('a mebibyte is rejected, of inserted text and of the text around it', () => {
    const half = 'x'.repeat(512 * 1024 - 100)
    expect(isTooMuch({ A: ['${B}${B}', MARKED], B: half })).toBe(false)
    expect(isTooMuch({ A: ['${B}${B}${B}', MARKED], B: half })).toBe(true)
    expect(isTooMuch({ A: [half, MARKED], B: [half, MARKED], C: [half, MARKED] })).toBe(true)
    // Bytes count, not characters.
    expect(isTooMuch({ A: ['${B}${B}', MARKED], B: 'ü'.repeat(400_000) })).toBe(true)
    // Values without references do not count.
    expect(isTooMuch({ A: half, B: half, C: half, D: ['${E}', MARKED], E: '' })).toBe(false)
  })

  test('a chain of more than thirty steps is rejected', () => {
    expect(isTooMuch(ladder(40, 1))).toBe(true)
    expect(isTooMuch(ladder(30, 1))).toBe(false)
  })

  test('ten of a thousand reasons are reported', () => {
    const broken = Object.fromEntries(
      Array.from({ length: 1000 }, (_, at) => [`X${at}`, ['${GONE}', MARKED]]),
    )
    expect(reasonsOf(() => resolve(broken as Environment))).toHaveLength(10)
  })
})
