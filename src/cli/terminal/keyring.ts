/**
 * The operating system's keyring, through its own program: Secret Service or macOS Keychain. A locked or unresponsive
 * keyring is not a missing one: its contents must not seem lost.
 */
import { HelperFailed, type HelperOptions, runHelper } from '../../core/helper_program.ts'
import { CliError } from './cli_error.ts'
import { type Entries, storeInPieces } from './keyring_pieces.ts'

export type Keyring = {
  name: string
  /** @throws CliError `keyring_unavailable`, here and below */
  read(): Promise<string | null>
  /** Reads it back. */
  write(text: string): Promise<void>
  clear(): Promise<void>
}

type Env = Record<string, string | undefined>
type Options = Pick<HelperOptions, 'timers'> & { platform?: NodeJS.Platform }

const SERVICE = 'cloakroom'
/** A command fails within five seconds. */
const LIMIT_MS = 4_500

/** This machine's keyring, or `null` without one. `account` names the entry. @throws CliError */
export async function openKeyring(
  env: Env,
  account: string,
  { platform = process.platform, ...options }: Options = {},
): Promise<Keyring | null> {
  const has = (program: string) => Bun.which(program, { PATH: env.PATH ?? '' }) !== null
  const run: Run = (command, input = '') =>
    runHelper(command, { limitMs: LIMIT_MS, input, env, ...options })
  if (platform === 'darwin' && has('security')) {
    return checkKeyring('the macOS keychain', account, storeInPieces(macKeychain(run)))
  }
  if (!env.DBUS_SESSION_BUS_ADDRESS || !has('secret-tool')) return null
  const entries = secretService(run)
  const keyring = checkKeyring('the Secret Service keyring', account, entries)
  return (await isServed(keyring)) ? keyring : null
}

type Run = (command: readonly [string, ...string[]], input?: string) => ReturnType<typeof runHelper>

/** A bus without a service that keeps secrets. */
class NoService extends Error {}

async function isServed(keyring: Keyring): Promise<boolean> {
  try {
    await keyring.read()
    return true
  } catch (error) {
    if (error instanceof NoService) return false
    throw error
  }
}

function checkKeyring(name: string, account: string, entries: Entries): Keyring {
  const explainAsking = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof HelperFailed || error instanceof Unanswered)) throw error
      throw unavailable(name, error.message)
    }
  }
  const read = () => explainAsking(() => entries.read(account))
  return {
    name,
    read,
    write: async (text) => {
      await explainAsking(() => entries.write(account, text))
      if ((await read())?.trimEnd() !== text.trimEnd())
        throw unavailable(name, 'it does not return stored values')
    },
    clear: () => explainAsking(() => entries.clear(account)),
  }
}

function unavailable(name: string, why: string): CliError {
  return new CliError(
    'keyring_unavailable',
    `${name} is unavailable: ${why}`,
    'unlock it and retry; to keep sessions in a file: cloakroom login EMAIL --insecure-storage, or set SERVICE_PASSPHRASE',
  )
}

/** A keyring that is locked, or refuses. */
class Unanswered extends Error {}

const NO_SERVICE =
  /org\.freedesktop\.secrets|ServiceUnknown|Cannot (autolaunch|spawn)|not provided by any/i

function secretService(run: Run): Entries {
  const keyOf = (account: string) => ['service', SERVICE, 'account', account]
  const buildRefusedError = (err: string) =>
    NO_SERVICE.test(err) ? new NoService(err) : new Unanswered(reasonIn(err))
  return {
    read: async (account) => {
      const { code, out, err } = await run(['secret-tool', 'lookup', ...keyOf(account)])
      // A missing entry is silent; a keyring that is locked or absent complains.
      if (code !== 0 && err !== '') throw buildRefusedError(err)
      return code === 0 && out !== '' ? out : null
    },
    write: async (account, text) => {
      const label = '--label=Cloakroom session'
      const { code, err } = await run(['secret-tool', 'store', label, ...keyOf(account)], text)
      if (code !== 0) throw buildRefusedError(err)
    },
    clear: async (account) => {
      const { code, err } = await run(['secret-tool', 'clear', ...keyOf(account)])
      if (code !== 0 && err !== '') throw buildRefusedError(err)
    },
  }
}

/** `errSecItemNotFound`, as `security` ends with it. */
const NOT_FOUND = 44

function macKeychain(run: Run): Entries {
  const keyOf = (account: string) => ['-s', SERVICE, '-a', account]
  return {
    read: async (account) => {
      const find = ['security', 'find-generic-password', ...keyOf(account), '-w'] as const
      const { code, out, err } = await run(find)
      if (code === NOT_FOUND) return null
      if (code !== 0) throw new Unanswered(reasonIn(err))
      return Buffer.from(out.trim(), 'base64').toString()
    },
    write: async (account, text) => {
      // `-i` reads the command from standard input: arguments would be visible to other processes.
      const encoded = Buffer.from(text).toString('base64')
      const order = `add-generic-password -U ${keyOf(account).join(' ')} -w ${encoded}\n`
      const { code, err } = await run(['security', '-i'], order)
      if (code !== 0) throw new Unanswered(reasonIn(err))
    },
    clear: async (account) => {
      const { code, err } = await run(['security', 'delete-generic-password', ...keyOf(account)])
      if (code !== 0 && code !== NOT_FOUND) throw new Unanswered(reasonIn(err))
    },
  }
}

const MAX_REASON = 200

/** The first line of the program's output, which contains no secret. */
function reasonIn(err: string): string {
  return err.trim().split('\n')[0]?.slice(0, MAX_REASON) || 'it is locked or denied access'
}
