/**
 * The locks: each package's version, hash and dependencies. bun.lock has the packages that are installed; the lock of
 * this folder has Bun's runtimes of all platforms, which only a release downloads.
 */
import { z } from 'zod'
import lockFile from '../../../bun.lock'
import runtimesFile from './bun.lock'

const names = z.record(z.string(), z.string()).optional()
const needs = z.looseObject({
  dependencies: names,
  optionalDependencies: names,
  peerDependencies: names,
  optionalPeers: z.array(z.string()).optional(),
})
/** `name@version`, the registry (empty for the usual one), its dependencies, the hash of its archive. */
const entry = z.tuple([z.string(), z.string(), needs, z.string().startsWith('sha512-')])
const schema = z.looseObject({
  lockfileVersion: z.number(),
  configVersion: z.number(),
  packages: z.record(z.string(), entry),
})

export type Package = {
  /** The package's key in the lock: its name, after the names of the packages that have a separate copy. */
  key: string
  name: string
  version: string
  /** SHA-512 of its archive, as in npm's `integrity`. */
  integrity: string
  needs: string[]
}

const lock = schema.parse(lockFile)
Object.assign(lock.packages, schema.parse(runtimesFile).packages)

/** @throws Error for a package that is not in the lock */
export function packageAt(key: string): Package {
  const found = lock.packages[key]
  if (!found) throw new Error(`${key} is in no bun.lock`)
  const [id, , needs, integrity] = found
  const split = id.lastIndexOf('@')
  const { dependencies, optionalDependencies, peerDependencies, optionalPeers = [] } = needs
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !optionalPeers.includes(name))
  const needed = [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]
  return {
    key,
    name: id.slice(0, split),
    version: id.slice(split + 1),
    integrity,
    needs: needed.flatMap((name) => resolve(name, key) ?? []),
  }
}

/** Resolves a name as `require` does: in the package's folder, then around it. Optional packages may be absent. */
function resolve(name: string, from: string): string | null {
  const parents = from.split('/')
  while (parents.length > 0) {
    const nested = [...parents, name].join('/')
    if (nested in lock.packages) return nested
    parents.pop()
  }
  return name in lock.packages ? name : null
}

/** Returns these packages and all their dependencies. */
export function closureOf(roots: readonly string[]): Package[] {
  const reached = new Set(roots)
  const packages: Package[] = []
  for (const key of reached) {
    const found = packageAt(key)
    packages.push(found)
    for (const next of found.needs) reached.add(next)
  }
  return packages.sort((one, other) => (one.key < other.key ? -1 : 1))
}

/** A lock with these packages only, for a separate folder. */
export function lockOf(folder: string, keys: readonly string[]): string {
  const dependencies = Object.fromEntries(keys.map((key) => [key, packageAt(key).version]))
  const packages = Object.fromEntries(keys.map((key) => [key, lock.packages[key]]))
  const { lockfileVersion, configVersion } = lock
  const workspaces = { '': { name: folder, dependencies } }
  return JSON.stringify({ lockfileVersion, configVersion, workspaces, packages }, null, 2)
}
