/** The worker of `argon2.browser.ts`: takes one order and posts 32 bytes. */
import { argon2id } from 'hash-wasm'
import { KEY_BYTES } from '../../platform/crypto/gcm_message.ts'
import type { Argon2Costs } from './argon2.ts'

export type Argon2Order = Argon2Costs & { message: Uint8Array; salt: Uint8Array }

export function derive({ message, salt, memory_kib, iterations, parallelism }: Argon2Order) {
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
  postMessage(await derive(data))
}
