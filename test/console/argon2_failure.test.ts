// tier: quick
/** The worker that derives keys from a password in a browser, run by this runtime. */
import { expect, test } from 'bun:test'
import { argon2id } from '../../src/client/account/argon2.browser.ts'

const worker = new URL('../../src/client/account/argon2_worker.ts', import.meta.url)
Reflect.set(globalThis, 'ARGON2_WORKER', worker.href)

const SALT = new Uint8Array(16)
const COSTS = { memory_kib: 64, iterations: 1, parallelism: 1 }
const orders = {
  'an empty password': { message: new Uint8Array(), salt: SALT, costs: COSTS },
  'a salt that is too short': { message: SALT, salt: new Uint8Array(), costs: COSTS },
  'costs that are not possible': { message: SALT, salt: SALT, costs: { ...COSTS, iterations: 0 } },
}

test.each(Object.entries(orders))(
  'the derivation from %s fails and does not wait for ever',
  async (_, { message, salt, costs }) => {
    expect(await argon2id(message, salt, costs).catch(String)).toStartWith(
      'Error: Argon2 did not run:',
    )
  },
)

test('a password is derived', async () => {
  expect(await argon2id(Uint8Array.of(1), SALT, COSTS)).toHaveLength(32)
})
