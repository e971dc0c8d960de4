// tier: quick
/**
 * The worker that derives keys from a password in a browser. A browser does not report an error in the worker's
 * async handler, so the worker must post it, or the caller waits forever.
 */
import { expect, test } from 'bun:test'
import { argon2id } from '../../src/client/account/argon2.browser.ts'
import type { Argon2Order, Argon2Reply } from '../../src/client/account/argon2_worker.ts'

const script = new URL('../../src/client/account/argon2_worker.ts', import.meta.url).href
Reflect.set(globalThis, 'ARGON2_WORKER', script)

const SALT = new Uint8Array(16)
const COSTS = { memory_kib: 64, iterations: 1, parallelism: 1 }
const orders: [string, Argon2Order][] = [
  ['an empty password', { message: new Uint8Array(), salt: SALT, ...COSTS }],
  ['a salt that is too short', { message: SALT, salt: new Uint8Array(), ...COSTS }],
  ['impossible costs', { message: SALT, salt: SALT, ...COSTS, iterations: 0 }],
]

/** This runtime has an `error` event for what browsers keep to themselves. */
async function postedFor(order: Argon2Order): Promise<Argon2Reply | 'not posted'> {
  const worker = new Worker(script)
  const { promise, resolve } = Promise.withResolvers<Argon2Reply | 'not posted'>()
  worker.onmessage = ({ data }: MessageEvent<Argon2Reply>) => resolve(data)
  worker.onerror = () => resolve('not posted')
  worker.postMessage(order)
  return promise.finally(() => worker.terminate())
}

test.each(orders)('the worker posts why it derives nothing from %s', async (_, order) => {
  expect(await postedFor(order)).toEqual({ failure: expect.any(String) })
})

test.each(orders)('the caller gets the reason why nothing is derived from %s', async (_, order) => {
  const { message, salt, ...costs } = order
  const outcome = argon2id(message, salt, costs).catch(String)
  expect(await outcome).toStartWith('Error: Argon2 did not run:')
})

test('a password is derived', async () => {
  expect(await argon2id(Uint8Array.of(1), SALT, COSTS)).toHaveLength(32)
})
