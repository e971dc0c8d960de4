// tier: quick
import { expect, test } from 'bun:test'
import { PLACEHOLDER_PREFIX, SECRET_NAME } from '../../../src/core/names/secret_name.ts'

const whole = new RegExp(`^${SECRET_NAME}$`)

test.each(['A', '_', 'stripe_api_key', 'DB2', 'a'.repeat(128)])('%s is a name', (name) => {
  expect(name).toMatch(whole)
})

test.each(['', '2DB', 'A-B', 'A.B', 'A B', 'Ä', 'A\n', 'a'.repeat(129)])(
  '%j is not a name',
  (name) => {
    expect(name).not.toMatch(whole)
  },
)

test('a placeholder is itself a valid name', () => {
  expect(`${PLACEHOLDER_PREFIX}STRIPE`).toMatch(whole)
})
