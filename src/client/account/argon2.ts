/** Argon2id (RFC 9106) by the runtime, off this thread; `argon2.browser.ts` has it for browsers. */
import { argon2 } from 'node:crypto'
import { KEY_BYTES } from '../../core/crypto/gcm_message.ts'

/** The cost; `memory_kib` is in KiB. */
export type Argon2Costs = { memory_kib: number; iterations: number; parallelism: number }

/** Argon2id, or a test double. */
export type Argon2id = (
  message: Uint8Array,
  salt: Uint8Array,
  costs: Argon2Costs,
) => Promise<Uint8Array>

/** 32 bytes. */
export function argon2id(
  message: Uint8Array,
  salt: Uint8Array,
  { memory_kib, iterations, parallelism }: Argon2Costs,
): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const costs = { memory: memory_kib, passes: iterations, parallelism }
  const parameters = { message, nonce: salt, ...costs, tagLength: KEY_BYTES }
  argon2('argon2id', parameters, (failure, derived) =>
    failure ? reject(failure) : resolve(Uint8Array.from(derived)),
  )
  return promise
}
