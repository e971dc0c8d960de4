/**
 * Secrets from files: `SECRET_KEY_FILE` is the path of a file with the value of `SECRET_KEY`, as mounted by Docker and
 * Kubernetes. Each is read once. Errors name variable and path, but no content.
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fromUtf8 } from '../crypto/encoding.ts'

type Env = Record<string, string | undefined>

export type FilledEnv = {
  env: Env
  problems: readonly string[]
  warnings: readonly string[]
  /** The sources of the values: `SECRET_KEY` to its path. */
  paths: ReadonlyMap<string, string>
}

const MAX_BYTES = 65_536
const OTHERS_WRITE = 0o002
const OTHERS_READ = 0o004
/** In such a folder only the owner of a file replaces it. */
const STICKY = 0o1000

/** The variable that names the file of another. */
export function fileVariableOf(name: string): string {
  return `${name}_FILE`
}

/** The environment with the secrets of `names` that are in files. An empty variable is not set. */
export function withSecretFiles(env: Env, names: readonly string[]): FilledEnv {
  const filled: Env = { ...env }
  const problems: string[] = []
  const warnings: string[] = []
  const paths = new Map<string, string>()
  for (const name of names) {
    const variable = fileVariableOf(name)
    const path = env[variable]
    if (!path) continue
    const read = env[name]
      ? `must not be set together with ${name}: unset one of them`
      : readSecret(path)
    if (typeof read === 'string') {
      problems.push(`${variable}: ${read} (example: /run/secrets/${name.toLowerCase()})`)
      continue
    }
    filled[name] = read.value
    paths.set(name, path)
    if (read.isReadable)
      warnings.push(`${variable}: every user of this machine can read ${path} (chmod o-r)`)
  }
  return { env: filled, problems, warnings, paths }
}

/** The value without one line break at its end; a string is the fault of the file. */
function readSecret(path: string): { value: string; isReadable: boolean } | string {
  try {
    // Without O_NONBLOCK the opening of a pipe waits for its writer.
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      return secretIn(file, path)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? `${error.code}` : 'no reason is known'
    return `${path} cannot be read (${code})`
  }
}

function secretIn(file: number, path: string): { value: string; isReadable: boolean } | string {
  const found = fstatSync(file)
  if (!found.isFile()) return `${path} must be a regular file`
  const mode = process.platform === 'win32' ? 0 : found.mode
  if (mode & OTHERS_WRITE) return `${path} can be written by every user: chmod o-w ${path}`
  const replaceable = findReplacer(found, path)
  if (replaceable !== null) return replaceable
  const bytes = Buffer.alloc(MAX_BYTES + 1)
  const length = readSync(file, bytes, 0, bytes.length, 0)
  if (length > MAX_BYTES) return `${path} must have at most ${MAX_BYTES} bytes`
  const text = fromUtf8(bytes.subarray(0, length))
  bytes.fill(0)
  if (text === null || text.includes('\0')) return `${path} must be text in UTF-8`
  const value = text.replace(/\r?\n$/, '')
  if (value === '') return `${path} must not be empty`
  return { value, isReadable: (mode & OTHERS_READ) !== 0 }
}

/**
 * Whether anybody may put another file in its place, where the path ends and where a link leads. That a file or folder
 * has a different owner is no reason: in a container that is a user of the machine, who made it to be mounted.
 */
function findReplacer({ uid }: Stats, path: string): string | null {
  if (process.platform === 'win32') return null
  for (const folder of new Set([dirname(resolve(path)), dirname(realpathSync(path))])) {
    const { mode } = statSync(folder)
    if (!(mode & OTHERS_WRITE)) continue
    if (!(mode & STICKY)) return `${path} can be replaced by every user: chmod o-w ${folder}`
    if (uid !== 0 && uid !== process.getuid?.())
      return `${path} was created by user ${uid} in ${folder}, which everyone can write to: use another folder`
  }
  return null
}
