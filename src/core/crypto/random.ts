/** Random bytes of the platform, by Web Crypto: servers, workers and browsers have it alike. */
import type { Bytes } from './encoding.ts'

export function randomBytes(count: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(count))
}
