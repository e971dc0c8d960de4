/**
 * The worker of `argon2.browser.ts`: handles one order, and posts 32 bytes or an error. An uncaught error in an async
 * handler would leave the caller waiting forever.
 */
import { argon2id } from 'hash-wasm'
import { KEY_BYTES } from '../../core/crypto/gcm_message.ts'
import type { Argon2Costs } from './argon2.ts'

export type Argon2Order = Argon2Costs & { message: Uint8Array; salt: Uint8Array }

/** The derived key, or the message of the error. */
export type Argon2Reply = Uint8Array | { failure: string }

export async function derive({ message, salt, memory_kib, iterations, parallelism }: Argon2Order) {
  const costs = { memorySize: memory_kib, iterations, parallelism }
  return argon2id({
    password: message,
    salt,
    ...costs,
    hashLength: KEY_BYTES,
    outputType: 'binary',
  })
}

self.onmessage = async ({ data }: MessageEvent<Argon2Order>) => {
  const reply: Argon2Reply = await derive(data).catch((error: Error) => ({
    failure: error.message,
  }))
  postMessage(reply)
}
