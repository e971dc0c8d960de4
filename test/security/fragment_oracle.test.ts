// tier: quick
/**
 * An attacker who knows the beginning of a value cannot find the rest one character at a time by having an API
 * repeat the beginning with each possible next character (protocol 6.1). The answer is the same for every guess,
 * except for the one that completes the 16 characters of a window, and the search ends there.
 */
import { describe, expect, test } from 'bun:test'
import { prepareGuard } from '../../src/leak_guard/index.ts'
import { sample } from '../support/sample.ts'

const JWT =
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI0NzExOTIiLCJuYW1lIjoiS2F5In0.q3VbW0cU7hZ9xKd2LmP5sT8yRfGjHnB4'
const PAT =
  'github_pat_11AB7QX2Y0k9Lm3Np5Rt7V_wX2yZ4aB6cD8eF1gH3jK5mN7pQ9rS2tU4vW6xY8zA1bC3dE5fG7hJ9kL2'
const STRIPE = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc'
const ALPHABET = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-=']
const PAIRS = ALPHABET.flatMap((first) => ALPHABET.map((second) => first + second))
/** Texts that may follow a guess. */
const FILLERS = ['', ' end', '!', '_and_then_some_more_that_belongs_to_no_value']

/** The agent's view of an API that repeats a text. */
function echoOf(value: string): (text: string) => string {
  const guard = prepareGuard([{ name: 'KEY', bytes: new Uint8Array(Buffer.from(value)) }]).forCall()
  return (text) => Buffer.from(guard.body(new Uint8Array(Buffer.from(text)))).toString()
}

/** An answer without the guess with which it ends. */
function lookOf(answer: string, end: string): string {
  return answer.endsWith(end) ? `${answer.slice(0, -end.length)}?` : answer
}

/** The guess with an answer unlike all others, or nothing. */
function unlike(echo: (text: string) => string, before: string, guesses: string[], after: string) {
  const answers = echo(guesses.map((guess) => `<${before}${guess}${after}>`).join('\n')).split('\n')
  const looks = Map.groupBy(guesses, (guess) => {
    const answer = answers[guesses.indexOf(guess)] ?? ''
    return lookOf(answer, `${guess}${after}>`)
  })
  return [...looks.values()].find((alike) => alike.length === 1 && looks.size > 1)?.[0]
}

/** Everything that an attacker with this number of characters of the value finds in the end. */
function attack(value: string, length: number): string {
  const echo = echoOf(value)
  let known = value.slice(0, length)
  for (let found: string | undefined = ''; found !== undefined && known.length < value.length; ) {
    found = undefined
    for (let from = 0; from < known.length && !found; from++) {
      for (const after of FILLERS) found ??= unlike(echo, known.slice(from), ALPHABET, after)
    }
    for (let from = Math.max(0, known.length - 15); from < known.length && !found; from++) {
      found ??= unlike(echo, known.slice(from), PAIRS, '')
    }
    known += found ?? ''
  }
  return known
}

describe.each([
  ['a JSON Web Token', JWT, [15, 16, 20, 37, 40]],
  ['a token of GitHub', PAT, [11, 15, 16, 20]],
  ['a key of Stripe', STRIPE, [8, 15, 16, 20]],
])('an attacker with the beginning of %s', (what, value, lengths) => {
  test.each(sample(`fragments of ${what}`, lengths, 4))(
    'an attacker with %d characters finds none beyond the window that they complete',
    (length) => {
      const known = attack(value, length)
      expect(value.startsWith(known)).toBe(true)
      expect(known.length).toBe(length === 15 ? 16 : length)
    },
  )

  test('the attacker gets equal answers, whatever the next characters are', () => {
    const echo = echoOf(value)
    for (const known of [value.slice(0, 16), value.slice(0, 20), value.slice(3, 20)]) {
      for (const guesses of [ALPHABET, PAIRS]) {
        const answers = guesses.map((guess) => lookOf(echo(`<${known}${guess}>`), `${guess}>`))
        const alike = known === value.slice(3, 20) ? `<${known}?` : '<[REDACTED]>'
        expect(new Set(answers)).toEqual(new Set([alike]))
      }
    }
  })

  test('fragments are still replaced', () => {
    const echo = echoOf(value)
    const fragments = [value.slice(0, 20), value.slice(-20), value.slice(0, 16), value.slice(-16)]
    for (let from = 0; from + 31 <= value.length; from++) {
      fragments.push(value.slice(from, from + 31), value.slice(from).slice(0, -1))
    }
    for (const fragment of fragments.filter((each) => each.length >= 31 || value.endsWith(each))) {
      if (fragment === value) continue
      expect(echo(`key: "${fragment}", and more`)).toBe('key: "[REDACTED]", and more')
    }
    expect(echo(`key: "${value.slice(0, 20)}"`)).toBe('key: "[REDACTED]"')
    expect(echo(`https://api.example.com/?key=${value}&v=1`)).toBe(
      'https://api.example.com/?key=SVC_SECRET_KEY&v=1',
    )
  })

  test('ordinary text passes unchanged', () => {
    const text = `{"id":"github_pat_","alg":"eyJhbGciOiJ","url":"https://api.example.com/v1/customers/cus_4711?expand=all","part":"${value.slice(1, 17)}"}`
    expect(echoOf(value)(text)).toBe(text)
  })
})
