/** Preloaded, so that later imports get the browser's files (src/dev/browser_files.ts). */
import { plugin } from 'bun'
import { browserFiles } from '../../../src/dev/browser_files.ts'

plugin(browserFiles)

const taken = await import('../../../src/core/crypto/primitives.ts')
const meant = await import('../../../src/core/crypto/primitives.browser.ts')
if (taken.sealGcm !== meant.sealGcm) throw new Error('these are the primitives of servers')

/** Inserted by the build. */
const worker = new URL('../../../src/client/account/argon2_worker.ts', import.meta.url)
Reflect.set(globalThis, 'ARGON2_WORKER', worker.href)
