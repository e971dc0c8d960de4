/** `argon2.ts` in a browser: in a separate worker, which is loaded on demand and ends with its work. */
import { scriptUrl } from '../../core/script_url.browser.ts'
import type { Argon2Costs } from './argon2.ts'
import type { Argon2Order, Argon2Reply } from './argon2_worker.ts'

/** Put in by the build. */
declare const ARGON2_WORKER: string

export function argon2id(
  message: Uint8Array,
  salt: Uint8Array,
  { memory_kib, iterations, parallelism }: Argon2Costs,
): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const worker = new Worker(scriptUrl(ARGON2_WORKER), { type: 'module' })
  const fail = (why: string) => reject(new Error(`Argon2 did not run: ${why}`))
  worker.onmessage = ({ data }: MessageEvent<Argon2Reply>) =>
    'failure' in data ? fail(data.failure) : resolve(data)
  worker.onerror = ({ message: why }) => fail(why)
  worker.postMessage({ message, salt, memory_kib, iterations, parallelism } satisfies Argon2Order)
  return promise.finally(() => worker.terminate())
}
