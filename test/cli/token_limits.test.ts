// tier: quick
/** Limits of tokens: the forms that people type, and the usage in lists. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { limitsBy } from '../../src/cli/tokens/limits.ts'
import { limitsInWords } from '../../src/client/agents/limits_in_words.ts'
import { UNLIMITED } from '../../src/core/token_limits.ts'
import { sharedApp } from '../support/app.ts'
import { openAccount, type Terminal } from './person.ts'

let ada: Terminal

beforeAll(async () => {
  ada = await openAccount(await sharedApp(), 'ada@limits.example')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', 'KEY=a-value-that-is-used', '--sensitive')
  await ada.must('agent', 'create', 'bot')
})
afterAll(() => ada.remove())

test('a token is issued with limits, which its list contains', async () => {
  const args = ['--calls-per-day', '1_000', '--bytes-per-day', '100MB', '--calls-per-minute', '60']
  await ada.must('token', 'issue', 'bot', '--label', 'limited', ...args)
  const [first, second] = JSON.parse(await ada.must('token', 'list', 'bot', '--json'))
  expect([first.limits, first.spent]).toEqual([null, undefined])
  expect(second).toMatchObject({
    label: 'limited',
    limits: {
      ...UNLIMITED,
      calls_per_minute: 60,
      calls_per_day: 1000,
      bytes_per_day: 100_000_000,
    },
    spent: { calls_today: 0, bytes_today: 0, model_tokens_today: 0, running: 0 },
  })
  const shown = await ada.must('token', 'list', 'bot')
  expect(shown).toContain('calls 0 of 1,000 today')
})

test('a token with limits is not issued to read', async () => {
  const args = ['--calls-per-day', '5', '--may', 'use,read']
  const { code, err } = await ada.run(['token', 'issue', 'bot', ...args])
  expect([code, err]).toEqual([expect.any(Number), expect.stringContaining('can only use')])
  expect(code).not.toBe(0)
})

describe('an amount', () => {
  test.each([
    ['1', 1],
    ['1,000', 1_000],
    ['10k', 10_000],
    ['2GiB', 2 ** 31],
    ['100mb', 100_000_000],
  ])('the amount %s is read', (text, amount) => {
    expect(limitsBy({ bytesPerDay: text } as never).limits?.bytes_per_day).toBe(amount)
  })

  test.each(['0', '-1', '1.5', 'many', '', '5 MB', '1e9', '99999999999999999999', '10TBs'])(
    'the amount %p is rejected',
    (text) => {
      expect(() => limitsBy({ callsPerDay: text } as never)).toThrow('is not an amount')
    },
  )
})

test('limits are printed in words with their used part', () => {
  const limits = {
    ...UNLIMITED,
    calls_per_minute: 60,
    concurrent_calls: 5,
    model_tokens_per_day: 9,
  }
  const spent = { calls_today: 1, bytes_today: 2, model_tokens_today: 3, running: 4 }
  expect(limitsInWords({ limits, spent })).toEqual([
    'calls 60 a minute',
    'running 4 of 5 at once',
    'model tokens 3 of 9 today',
  ])
  expect(limitsInWords({ limits: null })).toBeNull()
})
