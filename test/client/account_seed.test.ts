// tier: quick
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { type SeedCopy, unwrapSeed, wrapSeed } from '../../src/client/account/account_seed.ts'
import { identityOf } from '../../src/sigchain/index.ts'
import vectors from '../vectors/protocol-v2.json'

const { account_seed: copies, accounts } = vectors
const hex = (text: string) => Uint8Array.fromHex(text)

const seedVector = z.object({
  name: z.string(),
  kind: z.literal('seed'),
  given: z.object({
    wrapping_key: z.string(),
    wire: z.string(),
    signing_key: z.string(),
    public_key: z.string(),
    label: z.enum(['cloakroom/v2/account-seed', 'cloakroom/v2/recovery-seed']),
  }),
})
const seedsIn = (given: readonly { kind: string }[]) =>
  z.array(seedVector).parse(given.filter(({ kind }) => kind === 'seed'))

function unwrap({ given }: z.output<typeof seedVector>) {
  const copy: SeedCopy = given.label === 'cloakroom/v2/account-seed' ? 'account' : 'recovery'
  return unwrapSeed(hex(given.wrapping_key), copy, given.wire, given)
}

describe('a sealed seed', () => {
  const [account = accounts[0]] = accounts.filter(({ name }) => name === copies.of)
  if (account === undefined) throw new Error('the vectors name nobody')
  const seed = hex(account.seed)

  test('a sealed seed equals the vector, for the password and for the recovery key', () => {
    const nonce = hex(copies.nonce)
    const wrap = (key: string, copy: SeedCopy) => wrapSeed(hex(key), copy, seed, account, nonce)
    expect(wrap(copies.user_key, 'account')).toBe(copies.encrypted_private_key)
    const recovery = wrap(copies.recovery_wrapping_key, 'recovery')
    expect(recovery).toBe(copies.recovery_encrypted_private_key)
  })

  test('a sealed seed has another nonce each time', () => {
    const wrap = () => wrapSeed(hex(copies.user_key), 'account', seed, account)
    expect(wrap()).not.toBe(wrap())
  })

  test.each(seedsIn(vectors.good))('a sealed seed opens: $name', async (given) => {
    expect(await unwrap(given)).toMatchObject({ signing_key: account.signing_key })
  })

  test.each(seedsIn(vectors.hostile))('a sealed seed does not open: $name', async (given) => {
    expect(await unwrap(given)).toBeNull()
  })

  test('a sealed seed is rejected when the server names other keys than it contains, also if the server sealed it', async () => {
    const other = await identityOf(hex(accounts[1]?.seed ?? ''))
    const key = hex(copies.user_key)
    const wire = wrapSeed(key, 'account', seed, other)
    expect(await unwrapSeed(key, 'account', wire, other)).toBeNull()
  })
})
