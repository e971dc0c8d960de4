// tier: quick
/** docs/reference/limits.md, which is generated from the constants and settings that enforce the limits. */
import { expect, test } from 'bun:test'
import { quotas } from '../../src/core/config/quotas.ts'
import { OVERHEAD_BYTES } from '../../src/core/crypto/secret_value.ts'
import { limits } from '../../src/dev/limits.ts'
import { LIMITS_DOCS, readNumber, renderLimitsDocs } from '../../src/dev/limits_docs.ts'

const page = renderLimitsDocs()

test('docs/reference/limits.md is what the code enforces (bun src/dev/limits_docs.ts writes it)', async () => {
  expect(await Bun.file(LIMITS_DOCS).text()).toBe(page)
})

test('every limit is a number in the file that enforces it', () => {
  for (const [, place] of Object.values(limits).flat())
    expect({ place, isPositive: readNumber(place) > 0 }).toEqual({ place, isPositive: true })
  expect(() => readNumber('core/policy/policy.ts#MISSING')).toThrow('not a single number')
  expect(() => readNumber('core/policy/policy.ts#(\\d)')).toThrow('not a single number')
})

test('numbers are printed in the largest unit that fits', () => {
  expect(page).toContain('\nsession lifetime since last use | 30 days\n')
  expect(page).toContain('\nrequest or response body | 10 MiB, except streams\n')
  expect(page).toContain('\nMCP tool result | 60,000 bytes\n')
  expect(page).toContain('\nregistrations per network | 100 per hour | `RATE_REGISTER`\n')
  expect(page).toContain(`\nsecrets per environment | 10,000 | \`${quotas.secrets.setting}\`\n`)
})

test('the page states the overhead of a sealed value', () => {
  expect(page).toContain(`value, sealed (${OVERHEAD_BYTES} bytes overhead) | 96 KiB`)
})
