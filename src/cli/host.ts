/**
 * The surroundings of a command: environment, working directory, streams and the cost of key derivation. The
 * executable passes its process; code that runs commands inside another program, such as a test, passes its own.
 */
import { homedir } from 'node:os'
import { isAbsolute } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Argon2id } from '../client/account/argon2.ts'
import type { ProviderFetch } from '../client/connect/provider_fetch.ts'

type Env = Record<string, string | undefined>

export type Screen = Writable & { isTTY?: boolean; columns?: number; rows?: number }

export type Host = {
  env: Env
  cwd: string
  streams: { stdin: Readable & { isTTY?: boolean }; stdout: Screen; stderr: Screen }
  /** Derives keys from passwords; the real Argon2id unless given. */
  argon2id?: Argon2id | undefined
  /** Milliseconds since 1970; the system clock unless given. */
  now?: (() => number) | undefined
  /** Sends requests to providers; `fetch` unless given. */
  providerFetch?: ProviderFetch | undefined
  /** Shows a page to the person; the machine's browser unless given. */
  openBrowser?: ((url: string) => void) | undefined
}

/** The process that this is. */
export const ownProcess: Host = {
  env: process.env,
  // A getter: the folder may be gone, and `--version` works there too.
  get cwd() {
    return process.cwd()
  },
  streams: process,
}

/** Whether the command may end the process, handle its signals and hand its streams to a child. */
export function isOwnProcess({ streams }: Host): boolean {
  return streams === process
}

/**
 * The path as seen from the command's working directory. `..` and links are left for the system to follow:
 * `path.resolve` would drop them by their text.
 */
export function pathFrom({ cwd }: Pick<Host, 'cwd'>, path: string): string {
  return path === '' || isAbsolute(path) ? path : `${cwd}/${path}`
}

/** The person's home directory; without HOME the one that the system has for this user. */
export function homeOf({ HOME }: Env): string {
  return HOME || homedir()
}

/** All of standard input. */
export async function readInput({ streams: { stdin } }: Host): Promise<Uint8Array> {
  if (stdin === process.stdin) return Bun.stdin.bytes()
  return Buffer.concat(await stdin.toArray())
}
