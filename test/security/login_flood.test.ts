// tier: all
/** A flood of logins: hashing is slow on purpose, but must not slow down other requests. */
import { expect, test } from 'bun:test'
import { OuterLayer } from '../../src/core/crypto/outer_layer.ts'
import { Pepper } from '../../src/core/crypto/pepper.ts'
import { Fault } from '../../src/core/fault.ts'
import { defaultPasswordCost } from '../../src/core/password_cost.ts'
import { openPasswords } from '../../src/features/accounts/passwords/passwords.ts'

const passwords = openPasswords(Pepper.parse('k'.repeat(64)), defaultPasswordCost)

test("other tenants' values are opened during a flood, and excess logins are rejected immediately", async () => {
  let ended = 0
  const attempts = Array.from({ length: 230 }, async () => {
    await passwords.matches(null, 'a guess', null)
    ended += 1
  })
  const outcomes = Promise.allSettled(attempts)
  const outer = OuterLayer.parse(new Uint8Array(32).fill(1).toBase64({ alphabet: 'base64url' }))
  const salt = '01920000-0000-7000-8000-000000000001'
  const value = new Uint8Array(40)
  // One after the other: each would wait for the end of a hash if hashes used all threads.
  for (let count = 0; count < 20; count += 1) {
    const blob = await outer.seal('secrets.value', salt, [], value)
    expect(await outer.open('secrets.value', salt, [], blob)).toEqual(value)
  }
  expect(ended).toBeLessThan(20)
  const refused = (await outcomes).flatMap((each) =>
    each.status === 'rejected' ? [each.reason] : [],
  )
  expect(ended + refused.length).toBe(attempts.length)
  expect(refused.length).toBeGreaterThan(0)
  for (const fault of refused) {
    expect(fault).toBeInstanceOf(Fault)
    expect(fault).toMatchObject({ code: 'unavailable', headers: { 'retry-after': '1' } })
  }
  expect(await passwords.matches(null, 'one more', null)).toBe(false)
}, 60_000)
