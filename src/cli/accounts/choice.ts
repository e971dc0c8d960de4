/**
 * The account of a command: the named one, else the one of the folder, else the one in
 * use, else the only one of the server that is set. An account works with its own server and no other.
 */
import { requireItem } from '../named.ts'
import type { Setting, Settings } from '../settings.ts'
import { CliError } from '../terminal/cli_error.ts'
import { type Account, accountOf, type Person, type Registry } from './registry.ts'

/** Why it is this one, in words. */
export type Choice = { account: Account; why: string }
/** A named account may be signed out. Then only a folder belongs to it. */
export type Named = { person: Person; account: Account | null; why: string }

export type Wanted = {
  /** From `--account`. */
  flag: string | undefined
  env: Record<string, string | undefined>
  cwd: string
}

/** Origins of addresses that an account's own stand in for. */
const GENERAL: readonly Setting['origin'][] = ['global file', 'default']

/** The named account, or the owner of the folder. @throws CliError for an unknown name */
export function findNamedAccount(registry: Registry, { flag, env, cwd }: Wanted): Named | null {
  const { SERVICE_ACCOUNT: variable } = env
  const typed = flag ?? (variable || undefined)
  if (typed !== undefined) {
    const account = accountNamed(registry, typed)
    const where = flag === undefined ? 'SERVICE_ACCOUNT' : '--account'
    return { person: account, account, why: `named by ${where}` }
  }
  const found = registry.ofFolder(cwd)
  if (!found) return null
  const { person, folder } = found
  return { person, account: accountOf(registry, person), why: `account of the folder ${folder}` }
}

/** By its name, or its e-mail address where one account has it. @throws CliError */
export function accountNamed({ all }: Registry, typed: string): Account {
  const ofEmail = all.filter(({ email }) => email.toLowerCase() === typed.toLowerCase())
  const [only, another] = ofEmail
  const hasName = all.some(({ name }) => name === typed)
  if (only && !another && !hasName) return only
  const entries = all.map((account) => ({ id: account.slot, name: account.name, account }))
  return requireItem(entries, typed, { what: 'account', list: 'account list' }).account
}

/** The addresses of the account, unless a flag, variable or project file sets others. */
export function withAddresses(
  settings: Settings,
  named: Named | null,
  inUse: Account | null,
): Settings {
  const isGeneral = (setting: Setting | undefined) => !setting || GENERAL.includes(setting.origin)
  const isUnset = settings.server?.origin === 'default'
  const server = named?.person.server ?? (isUnset ? inUse?.server : undefined)
  if (server === undefined) return settings
  const own = isGeneral(settings.server) ? setting(server) : settings.server
  const { resolver } = (named ? named.account : inUse) ?? {}
  const isHere = own?.value === server && resolver !== undefined && isGeneral(settings.resolver)
  return {
    ...settings,
    ...(own ? { server: own } : {}),
    ...(isHere ? { resolver: setting(resolver) } : {}),
  }
}

function setting(value: string): Setting {
  return { value, origin: 'account' }
}

/** The account for this server. @throws CliError without one, or with several */
export function chooseAccount(registry: Registry, named: Named | null, server: string): Choice {
  if (named) return chooseAtServer(named, server)
  const { all, inUse } = registry
  if (inUse?.server === server) return { account: inUse, why: 'the one in use' }
  const [only, another] = all.filter((account) => account.server === server)
  if (only && !another) return { account: only, why: `the only one at ${server}` }
  if (only) {
    const names = all.flatMap((account) => (account.server === server ? [account.name] : []))
    throw new CliError(
      'ambiguous_name',
      `several accounts are signed in at ${server}: ${names.join(', ')}`,
      'choose one with --account, or: cloakroom account use <account>',
    )
  }
  throw buildNoAccountError(all, server)
}

function chooseAtServer({ person, account, why }: Named, server: string): Choice {
  const who = account?.name ?? person.email
  if (person.server !== server) {
    throw new CliError(
      'not_logged_in',
      `${who} (${why}) is an account at ${person.server}, not at ${server}`,
      'omit the server or the account; cloakroom config shows their source',
    )
  }
  if (account) return { account, why }
  throw new CliError(
    'not_logged_in',
    `${person.email} (${why}) is not signed in`,
    `sign in with: cloakroom login ${person.email} (or choose another account for the folder with: cloakroom account use <account> --here)`,
  )
}

function buildNoAccountError(all: readonly Account[], server: string): CliError {
  const hint = 'sign in with: cloakroom login EMAIL'
  const [only, another] = all
  if (!only) return new CliError('not_logged_in', 'not signed in', hint)
  const said = another
    ? `no account is signed in at ${server}`
    : `the session is for ${only.server}, not ${server}`
  return new CliError('not_logged_in', said, hint)
}

const MAX_NAME = 100

/**
 * The name of an account: the given one, else the previous one, else `email@host`.
 *
 * @throws CliError for a name that another account has, or that cannot be typed
 */
export function nameFor(
  { all }: Registry,
  { slot, server, email }: Pick<Account, 'slot' | 'server' | 'email'>,
  asked: string | undefined,
): string {
  const isTaken = (name: string) => all.some((other) => other.name === name && other.slot !== slot)
  if (asked !== undefined) {
    if (asked === '' || asked.startsWith('-') || asked.length > MAX_NAME || /\p{C}/u.test(asked))
      throw new CliError('usage', `a name has 1 to ${MAX_NAME} characters and cannot begin with -`)
    if (!isTaken(asked)) return asked
    const { email: owner = '' } = all.find(({ name }) => name === asked) ?? {}
    throw new CliError(
      'usage',
      `${asked} is the name of another account (${owner})`,
      'choose another, or remove that account with: cloakroom account remove',
    )
  }
  const before = all.find((other) => other.slot === slot)
  const plain = `${email}@${new URL(server).host}`
  return before?.name ?? [plain, `${plain}-2`, `${plain}-3`].find((name) => !isTaken(name)) ?? slot
}
