/**
 * The socket of the agent that holds the unlocked key: a socket in a directory that only this user can
 * enter. Files there that do not belong to this user are rejected.
 */
import { lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { CliError } from '../terminal/cli_error.ts'

type Env = Record<string, string | undefined>

const OTHERS = 0o077
const OTHERS_MAY_WRITE = 0o022
const STICKY = 0o1000

/** The path of the socket; `make` creates the directory. @throws CliError `unsafe_socket` */
export function socketPath(env: Env, make: boolean): string {
  const uid = ownUid()
  const { XDG_RUNTIME_DIR: runtime } = env
  const directory = runtime
    ? join(runtime, 'cloakroom')
    : join(env.TMPDIR || tmpdir(), `cloakroom-${uid}`)
  if (make) mkdirSync(directory, { recursive: true, mode: 0o700 })
  demandOwnDirectory(directory, uid)
  return join(directory, 'unlocked.sock')
}

/** The path of a trusted socket; null without a socket. @throws CliError */
export function ownSocket(env: Env): string | null {
  try {
    const path = socketPath(env, false)
    const found = lstatSync(path)
    if (found.isSocket() && found.uid === ownUid() && (found.mode & OTHERS) === 0) return path
    throw buildUnsafeError(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/** No other user can access or replace it. */
function demandOwnDirectory(directory: string, uid: number): void {
  const own = lstatSync(directory)
  const isOwn = own.isDirectory() && own.uid === uid && (own.mode & OTHERS) === 0
  if (!isOwn) throw buildUnsafeError(directory)
  const parent = lstatSync(dirname(directory))
  const isKept = (parent.mode & OTHERS_MAY_WRITE) === 0 || (parent.mode & STICKY) !== 0
  if (!isKept || (parent.uid !== uid && parent.uid !== 0))
    throw buildUnsafeError(dirname(directory))
}

function ownUid(): number {
  const uid = process.getuid?.()
  if (uid !== undefined) return uid
  throw new CliError('failed', 'unlock works only on Linux and macOS')
}

function buildUnsafeError(path: string): CliError {
  return new CliError(
    'unsafe_socket',
    `${path} may belong to another user`,
    'remove it, or set XDG_RUNTIME_DIR to a directory of mode 0700',
  )
}
