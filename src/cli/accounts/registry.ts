/**
 * The accounts that are signed in on this machine, the one in use, and the folders of each:
 * names and addresses, no key and no token. It is in the user's own configuration, so that no
 * repository can say whose account works in it. A folder is known by its real path.
 */
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { readOwnFile } from '../files/read.ts'
import { replaceFile } from '../files/replace.ts'
import { configDirectory } from '../settings.ts'
import { CliError } from '../terminal/cli_error.ts'

type Env = Record<string, string | undefined>

/** The place of the session when a machine had only one. The first account still uses it. */
export const FIRST_SLOT = 'session'

/** Names the file, or the entry of the keyring, that holds the session. */
const slot = z.string().regex(/^session(-[0-9a-f-]{36})?$/)
const account = z.strictObject({
  slot,
  name: z.string(),
  server: z.string(),
  email: z.string(),
  resolver: z.string().optional(),
})
/** The identity of an account. It stays after signing out. */
const person = z.strictObject({ server: z.string(), email: z.string() })
const file = z.strictObject({
  inUse: slot.nullable().default(null),
  accounts: z.array(account).default([]),
  folders: z.record(z.string(), person).default({}),
})

export type Account = z.output<typeof account>
export type Person = z.output<typeof person>
type Kept = z.output<typeof file>

export type Registry = {
  /** False before the first log-in with this version: an old session may be there. */
  isKept: boolean
  all: readonly Account[]
  inUse: Account | null
  /** The owner of this folder, or of the nearest parent with an owner. The owner may be signed out. */
  ofFolder(folder: string): { person: Person; folder: string } | null
}

/** Reads the file again: another terminal may have changed it. @throws CliError for a damaged file */
export function readRegistry(env: Env): Registry {
  const kept = read(env)
  const { accounts, inUse, folders } = kept ?? file.parse({})
  const [only, another] = accounts
  return {
    isKept: kept !== null,
    all: accounts,
    inUse: accounts.find(({ slot }) => slot === inUse) ?? (another ? null : (only ?? null)),
    ofFolder: (from) => {
      for (const folder of ancestorsOf(realpathSync(from))) {
        const { [folder]: owner } = folders
        if (owner) return { person: owner, folder }
      }
      return null
    },
  }
}

/** The account of this person, with any name. */
export function accountOf({ all }: Pick<Registry, 'all'>, person: Person): Account | null {
  return all.find((account) => isSame(account, person)) ?? null
}

function isSame(one: Person, other: Person): boolean {
  return one.server === other.server && one.email.toLowerCase() === other.email.toLowerCase()
}

/** Adds an account, or changes the one that has its place, and uses it from now on. */
export function keepAccount(env: Env, changed: Account): void {
  change(env, (kept) => {
    kept.accounts = [...kept.accounts.filter((other) => other.slot !== changed.slot), changed]
    kept.inUse = changed.slot
  })
}

export function useAccount(env: Env, chosen: Account): void {
  change(env, (kept) => {
    kept.inUse = chosen.slot
  })
}

/** Folders stay whose they are: another account must not take them over in silence. */
export function endAccount(env: Env, { slot: gone }: Account): void {
  change(env, (kept) => {
    kept.accounts = kept.accounts.filter((other) => other.slot !== gone)
    if (kept.inUse === gone) kept.inUse = null
  })
}

/** Also removes its folders. */
export function forgetAccount(env: Env, gone: Account): void {
  endAccount(env, gone)
  change(env, (kept) => {
    const left = Object.entries(kept.folders).filter(([, owner]) => !isSame(owner, gone))
    kept.folders = Object.fromEntries(left)
  })
}

export function bindFolder(env: Env, folder: string, { server, email }: Person): void {
  change(env, (kept) => {
    kept.folders[realpathSync(folder)] = { server, email }
  })
}

function ancestorsOf(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...ancestorsOf(parent)]
}

function pathOf(env: Env): string {
  return join(configDirectory(env), 'accounts.json')
}

function change(env: Env, act: (kept: Kept) => void): void {
  const kept = read(env) ?? file.parse({})
  act(kept)
  replaceFile(pathOf(env), `${JSON.stringify(kept, null, 2)}\n`)
}

function read(env: Env): Kept | null {
  const path = pathOf(env)
  const text = readOwnFile(path)
  if (text === null) return null
  try {
    return file.parse(JSON.parse(text))
  } catch {
    throw new CliError(
      'invalid_file',
      `${path} is not a valid account list`,
      'remove it, and sign in again with: cloakroom login EMAIL',
    )
  }
}
