// tier: quick
/** The palette's search. */
import { expect, test } from 'bun:test'
import { findMatches, partsOf } from '../../src/console/web/frame/palette/match.ts'

const entries = [
  { label: 'GITHUB_TOKEN', hint: 'payments · production' },
  { label: 'GITHUB_APP_PRIVATE_KEY', hint: 'payments · staging' },
  { label: 'STRIPE_KEY', hint: 'web · production' },
  { label: 'MY_STRIPE', hint: 'web · production' },
  { label: 'api.stripe.com' },
]

const find = (query: string, most = 8) =>
  findMatches(entries, partsOf(query), most).found.map(({ label }) => label)

test('the palette finds names by parts of their words, in any order and case', () => {
  expect(find('git tok')).toEqual(['GITHUB_TOKEN'])
  expect(find('KEY hub')).toEqual(['GITHUB_APP_PRIVATE_KEY'])
  expect(find('zzz')).toEqual([])
})

test('the palette lists a name that starts with the text before one that contains it', () => {
  expect(find('stripe')).toEqual(['STRIPE_KEY', 'MY_STRIPE', 'api.stripe.com'])
})

test('the palette finds a project or environment in the hint, after names', () => {
  expect(find('web')).toEqual(['MY_STRIPE', 'STRIPE_KEY'])
  expect(find('github staging')).toEqual(['GITHUB_APP_PRIVATE_KEY'])
})

test('the palette limits what it lists and counts the rest', () => {
  const many = Array.from({ length: 2_000 }, (_, at) => ({ label: `KEY_${at}` }))
  const { found, count } = findMatches(many, partsOf('key'), 8)
  expect({ listed: found.length, count }).toEqual({ listed: 8, count: 2_000 })
})
