/**
 * Bun's runtimes for other platforms. `bun build --target` would download them without comparing hashes. As npm
 * packages they are in this folder's bun.lock, as parts of the package `bun`, and `bun install` compares their hashes.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { lockOf, packageAt } from './lock.ts'
import type { ReleaseTarget } from './targets.ts'

const NAME = 'runtimes'

/**
 * Installs them into a folder, and returns a function for the path of a target's runtime. @throws Error for one with
 * another hash
 */
export async function installRuntimes(
  targets: readonly ReleaseTarget[],
  folder: string,
  lock = lockOf(NAME, keysOf(targets)),
): Promise<(target: ReleaseTarget) => string> {
  const dependencies = Object.fromEntries(
    keysOf(targets).map((key) => [key, packageAt(key).version]),
  )
  await mkdir(folder, { recursive: true })
  await Bun.write(join(folder, 'package.json'), JSON.stringify({ name: NAME, dependencies }))
  await Bun.write(join(folder, 'bun.lock'), lock)
  const options = ['--frozen-lockfile', '--ignore-scripts', '--os=*', '--cpu=*']
  // Files that are already in a cache are not verified again, so use an empty one.
  const env = { ...process.env, BUN_INSTALL_CACHE_DIR: join(folder, 'cache') }
  const installed = await Bun.$`${process.execPath} install ${options}`
    .cwd(folder)
    .env(env)
    .quiet()
    .nothrow()
  if (installed.exitCode !== 0) throw new Error(installed.stderr.toString())
  return ({ runtime, program }) => join(folder, 'node_modules', runtime, 'bin', program)
}

function keysOf(targets: readonly ReleaseTarget[]): string[] {
  return targets.map(({ runtime }) => runtime)
}
