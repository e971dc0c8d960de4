/** Random bytes of the platform, by Web Crypto, which servers, workers and browsers share. */
import type { Bytes } from './encoding.ts'

export function generateRandomBytes(count: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(count))
}
