// tier: quick
/**
 * The chunks that a stream holds back do not reveal how guarded values begin (protocol 6.1). Otherwise an agent that
 * has an API repeat its guesses, one per chunk, would find a value two characters at a time: only the chunk with the
 * beginning of a value would wait.
 */
import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { type Frames, prepareGuard } from '../../src/leak_guard/index.ts'

type Values = Record<string, string>
const bytes = (text: string) => new Uint8Array(Buffer.from(text))
const named = (values: Values) =>
  Object.entries(values).map(([name, value]) => ({ name, bytes: bytes(value) }))
const guardOf = (values: Values, used: Values = {}) =>
  prepareGuard(named(values)).forCall({ used: named(used) })

const KEY = `sk_live_${randomBytes(24).toString('base64url')}`
const PHRASE = 'correct horse 4 battery (staple) & tea'
const LONG = Array.from({ length: 60 }, (_, at) => `word${at} ${randomBytes(9).toString('hex')}`)
const VALUES = { KEY, PHRASE, LONG: LONG.join(' '), ESCAPED: 'a%41b\\n&lt;"c' }

/** Others of the same length and the same kinds of characters. */
function likeness(text: string): string {
  const another = (from: string) => (character: string) => {
    const at = (from.indexOf(character) + 1 + (randomBytes(1)[0] ?? 0)) % from.length
    return from[at] ?? ''
  }
  return text
    .replaceAll(/[g-z]/g, another('ghijklmnopqrstuvwxyz'))
    .replaceAll(/[G-Z]/g, another('GHIJKLMNOPQRSTUVWXYZ'))
}

/** The number of bytes returned with each chunk. */
function lengthsOf(guard: ReturnType<typeof guardOf>, chunks: string[], frames?: Frames): number[] {
  const stream = guard.stream({ isJson: false, ...(frames ? { frames } : {}) })
  const lengths = chunks.map((chunk) => stream.push(bytes(chunk)).length)
  return [...lengths, stream.flush().length]
}

/** An attacker's guesses, each inside text and ended by a character that is in no value. */
function probesOf(text: string): string[] {
  return [')', '|', '', ' ', '"'].flatMap((end) => [
    `${'some text before. '.repeat(30)}\n${text}${end}`,
    end,
    '... and so on',
  ])
}

const FRAMES = [undefined, 'events', 'lines', 'json'] as const
const guard = guardOf(VALUES, { PIN: 'x7#q', KEY })
const another = guardOf({ OTHER: 'qqqqqqqq' })
const none = guardOf({})
const forms: Record<string, (text: string) => string> = {
  'as it is': (text) => text,
  base64: (text) => Buffer.from(text).toString('base64'),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  'percent escapes': (text) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  'numbers of bytes': (text) => JSON.stringify([...Buffer.from(text)], null, 1),
}

describe.each(Object.entries(VALUES))('the beginnings of %s', (_, value) => {
  // A window of 16 known characters is recognised.
  const beginnings = Array.from({ length: 11 }, (_, at) => value.slice(0, at + 2))
  if (!/\S{16}/.test(value)) beginnings.push(value.slice(0, -1))
  test.each(Object.entries(forms))('guesses written as %s wait like any other text', (_, form) => {
    for (const beginning of beginnings) {
      const [probe, other] = [form(beginning), form(likeness(beginning))]
      // Guesses with different encoded lengths cannot be compared.
      if (probe.length !== other.length) continue
      for (const frames of FRAMES) {
        const seen = lengthsOf(guard, probesOf(probe), frames)
        expect([probe, lengthsOf(guard, probesOf(other), frames)]).toEqual([probe, seen])
        expect(lengthsOf(another, probesOf(probe), frames)).toEqual(seen)
        expect(lengthsOf(none, probesOf(probe), frames)).toEqual(seen)
      }
    }
  })
})
