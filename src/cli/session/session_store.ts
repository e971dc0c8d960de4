/**
 * The store of the session and the private key of an account: in the operating system's keyring if there is one,
 * otherwise in a file of mode 0600, encrypted with a passphrase, or unencrypted if the user allows it.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Argon2id } from '../../client/account/argon2.ts'
import { exclusively } from '../files/lock.ts'
import { readOwnFile } from '../files/read.ts'
import { demandRoom, replaceFile } from '../files/replace.ts'
import { configDirectory } from '../settings.ts'
import { openKeyring } from '../terminal/keyring.ts'
import { readUnlockedKey } from '../unlocked/index.ts'
import { forgetOwnValues } from './own_values.ts'
import {
  type AskPassphrase,
  isSealed,
  openSeal,
  type Seal,
  type SealingKey,
} from './session_seal.ts'

const stored = z.object({
  server: z.string(),
  email: z.string(),
  access: z.string(),
  refresh: z.string(),
  /** b64 of 32 bytes. */
  privateKey: z.string(),
  publicKey: z.string(),
  /** The seed of both; null for an account without a seed. */
  seed: z.string().nullable().default(null),
  /** The seed and recovery key that the server was asked to take: its answer may be lost. */
  next: z.object({ seed: z.string(), recoveryKey: z.string() }).nullable().default(null),
  /** Keys of other people, remembered when first seen: e-mail → `public_key`, or `signing_key public_key`. */
  knownKeys: z.record(z.string(), z.string()).default({}),
  /** Tokens of agents that are kept here: id of the agent → token. */
  agentTokens: z.record(z.string(), z.string()).default({}),
})
export type StoredSession = z.output<typeof stored>

export type SessionStore = {
  /** The location, for `cloakroom status`. */
  location: string
  /** Prompts for the passphrase first, so that no result is lost. */
  prepare(): Promise<void>
  read(): Promise<StoredSession | null>
  write(session: StoredSession): Promise<void>
  /** Checks that it is writable before the server returns one-time data. @throws CliError */
  demandRoom(): void
  /** Does `work` while no other command renews or changes this session. */
  exclusively<T>(work: () => Promise<T>): Promise<T>
  /** With all that ends with the session. */
  clear(): Promise<void>
}

export type StoreOptions = {
  env: Record<string, string | undefined>
  argon2id?: Argon2id | undefined
  /** Keep the session unencrypted in the file. */
  insecure: boolean
  /** Asked for when the file is encrypted or about to be. */
  passphrase: AskPassphrase
}

/** Milliseconds that another command is waited for. */
const LOCK_MS = 30_000

/** `slot` names the file, or the entry of the keyring. */
export async function openSessionStore(options: StoreOptions, slot: string): Promise<SessionStore> {
  const kept = await storeOf(options, slot)
  const lock = join(configDirectory(options.env), `${slot}.lock`)
  const clear = async () => {
    forgetOwnValues(options.env, slot)
    await kept.clear()
  }
  return { ...kept, clear, exclusively: (work) => exclusively(lock, LOCK_MS, work) }
}

type Kept = Omit<SessionStore, 'exclusively'>

async function storeOf(options: StoreOptions, slot: string): Promise<Kept> {
  const keyring = options.insecure ? null : await openKeyring(options.env, slot)
  if (!keyring) return fileStore(options, slot)
  return {
    location: keyring.name,
    prepare: async () => {},
    demandRoom: () => {},
    read: async () => parse(await keyring.read()),
    write: (session) => keyring.write(JSON.stringify(session)),
    clear: () => keyring.clear(),
  }
}

function parse(text: string | null): StoredSession | null {
  if (text === null) return null
  const parsed = stored.safeParse(JSON.parse(text))
  return parsed.success ? parsed.data : null
}

function sealOf({
  env,
  argon2id,
  passphrase,
}: Pick<StoreOptions, 'env' | 'argon2id' | 'passphrase'>): Seal {
  const { SERVICE_PASSPHRASE: given } = env
  return openSeal({
    directory: configDirectory(env),
    argon2id,
    passphrase: async (opens) => {
      const text = given ?? (await passphrase(opens))
      if (opens !== null) return text
      const { strong } = await import('../terminal/strong.ts')
      return strong(text, 'passphrase')
    },
    unlocked: () => readUnlockedKey(env),
  })
}

/** The key of all sealed sessions; null without sealed sessions. @throws CliError `wrong_passphrase` */
export function readSealingKey(options: StoreOptions): Promise<SealingKey | null> {
  return sealOf(options).key()
}

function fileStore(options: StoreOptions, slot: string): Kept {
  const { env, insecure } = options
  const path = join(configDirectory(env), `${slot}.json`)
  const seal = sealOf(options)
  const present = () => readOwnFile(path)
  const keepsPlain = () => {
    const text = present()
    return insecure || (text !== null && !isSealed(text))
  }
  return {
    location: path,
    prepare: async () => {
      if (!keepsPlain()) await seal.prepare()
    },
    read: async () => {
      const text = present()
      if (text === null) return null
      return parse(isSealed(text) ? await seal.unseal(text) : text)
    },
    write: async (session) => {
      const text = JSON.stringify(session)
      replaceFile(path, keepsPlain() ? text : await seal.seal(text))
    },
    demandRoom: () => demandRoom(path, present()?.length ?? 0),
    clear: async () => rmSync(path, { force: true }),
  }
}
