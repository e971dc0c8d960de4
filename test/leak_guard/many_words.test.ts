// tier: quick
/**
 * The guarded parts of values have a budget (protocol 6.1). A vault of word lists, which anyone who may write secrets
 * can create, once needed a prepared guard of gigabytes and seconds of every tenant's time.
 */
import { expect, test } from 'bun:test'
import { prepareGuard, prepareGuardInSteps } from '../../src/leak_guard/guard.ts'
import { buildFragments } from '../../src/leak_guard/matching/fragments.ts'
import { MAX_ALL_PARTS, MAX_PARTS } from '../../src/leak_guard/matching/guarded.ts'

const utf8 = (text: string) => new Uint8Array(Buffer.from(text))
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString()
const wordOf = (at: number) => `q${at.toString(7).padStart(7, '0').replaceAll('0', 'z')}`
const named = (values: readonly string[]) =>
  values.map((value, at) => ({ name: `K${at}`, bytes: utf8(value) }))

const listOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => wordOf(from + at)).filter((word) => /[0-9]/.test(word))

/** Bytes of all typed arrays that are reachable. */
function bytesOf(value: unknown, seen = new Set<unknown>()): number {
  if (typeof value !== 'object' || value === null || seen.has(value)) return 0
  seen.add(value)
  if (ArrayBuffer.isView(value)) return value.byteLength
  return Reflect.ownKeys(value).reduce(
    (sum, key) => sum + bytesOf(Reflect.get(value, key), seen),
    0,
  )
}

test('the guarded parts of a list of words are the first words, the whole, and fragments', () => {
  const words = listOf(0, 2000)
  const long = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc'
  const value = `${words.join(' ')} ${long}`
  const guard = prepareGuard(named([value, 'hunter2 and hunter22'])).forCall()
  const guarded = (text: string) => textOf(guard.body(utf8(text)))
  expect(guarded(`<${value}>`)).toBe('<SVC_SECRET_K0>')
  expect(guarded(`<${words[0]}>`)).toBe('<[REDACTED]>')
  expect(guarded(`<${words[MAX_PARTS - 3]}>`)).toBe('<[REDACTED]>')
  expect(guarded(`<${words[MAX_PARTS + 1]}>`)).toBe(`<${words[MAX_PARTS + 1]}>`)
  expect(guarded(`<${long.slice(0, 20)}>`)).toBe('<[REDACTED]>')
  expect(guarded('<hunter22>')).toBe('<[REDACTED]>')
})

test('values as people have them are guarded with all their parts', () => {
  const line = (at: number) =>
    Buffer.from(`${Bun.hash(`${at}`)}`.repeat(3))
      .toString('base64')
      .slice(0, 64)
  const pem = Array.from({ length: 100 }, (_, at) => line(at))
  const settings = Array.from({ length: 80 }, (_, at) => `NAME_${at}=v4lu3-${at}-${at}`)
  const account = Object.fromEntries(pem.map((each, at) => [`field_${at}`, each]))
  const guard = prepareGuard(
    named([
      `-----BEGIN PRIVATE KEY-----\n${pem.join('\n')}\n-----END PRIVATE KEY-----`,
      settings.join('\n'),
      JSON.stringify(account),
    ]),
  ).forCall()
  for (const part of [...pem, ...settings]) {
    expect(textOf(guard.body(utf8(`<${part}>`)))).toBe('<[REDACTED]>')
  }
})

test('a vault of word lists is prepared in short steps, and uses memory in proportion', async () => {
  const lists = Array.from({ length: 60 }, (_, at) => listOf(at * 1000, 1000).join(' '))
  const values = named(lists)
  let steps = 0
  const guard = await prepareGuardInSteps(values, async () => void steps++)
  const size = lists.reduce((sum, list) => sum + list.length, 0)
  expect(steps).toBeGreaterThan(lists.length)
  expect(guard.retained.patterns.parts.labels.length).toBeLessThanOrEqual(
    MAX_ALL_PARTS + 2 * lists.length,
  )
  expect(bytesOf(guard.retained)).toBeLessThan(20 * size)
  expect(textOf(guard.forCall().body(utf8(`<${lists[59]}>`)))).toBe('<SVC_SECRET_K59>')
})

test('words that are too short for fragments are searched in short steps', () => {
  const lists = Array.from({ length: 60 }, (_, at) => listOf(at * 1000, 1000).join('\t'))
  const stretches = lists.map((list) => list.replaceAll(/\S{16,}/g, 'short'))
  const size = stretches.reduce((sum, { length }) => sum + length, 0)
  const steps = [...buildFragments(stretches)].length
  expect(steps).toBeGreaterThan(Math.floor(size / 2 ** 17))
})
