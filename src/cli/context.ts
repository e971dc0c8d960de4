/** The context of every command: its settings, its output, and the session on request. */
import type { Api } from '../client/http/api.ts'
import { trustAuthorities } from '../client/http/certificates.ts'
import { conflictLine, withAliases } from '../core/config/aliases.ts'
import { fileVariableOf, withSecretFiles } from '../core/config/secret_files.ts'
import { type Accounts, openAccounts, settingsWith } from './accounts/index.ts'
import { openAddresses } from './addresses.ts'
import { namesOf } from './completion/names.ts'
import { readNamedFile } from './files/read.ts'
import type { Host } from './host.ts'
import { demandProjectFile } from './project_file.ts'
import { openLocalWrites } from './session/local_writes.ts'
import type { Session } from './session/session.ts'
import type { AskPassphrase } from './session/session_seal.ts'
import { type AddressName, readSettings, type SettingName, type Settings } from './settings.ts'
import { CliError } from './terminal/cli_error.ts'
import { type Output, openOutput } from './terminal/output.ts'
import { hasColour } from './terminal/streams.ts'
import { openKnownChains, openKnownNames, openKnownWorkspaceKeys } from './trust/known.ts'

export type GlobalOptions = {
  server?: string
  resolver?: string
  account?: string
  workspace?: string
  project?: string
  env?: string
  json?: boolean
  quiet?: boolean
  debug?: boolean
  insecureStorage?: boolean
  insecureHttp?: boolean
  caFile?: string
}

export type Context = {
  host: Host
  settings: Settings
  output: Output
  env: Record<string, string | undefined>
  cwd: string
  /** Whether addresses beyond this machine may be talked to without encryption. */
  insecureHttp: boolean
  /** The PEM file with additional certificate authorities. */
  caFile: string | undefined
  /** The token from the environment. @throws CliError if its file cannot be read */
  givenToken(): string | undefined
  /** The value of a setting that has a default. @throws CliError where a broken project file hides it */
  setting(name: Exclude<SettingName, AddressName>): string
  /** An address that may be talked to; asks where a project file names it. @throws CliError */
  server(): Promise<string>
  resolver(): Promise<string>
  accounts: Accounts
  /** @throws CliError without a session */
  session(): Promise<Session>
}

/** The context of one command, from the options that every command has, wherever they stand on its line. */
export function openContext(host: Host, options: GlobalOptions): Context {
  const { env, conflicts } = withAliases(host.env)
  if (conflicts.length > 0) throw new CliError('usage', conflicts.map(conflictLine))
  const caFile = options.caFile ?? (env.SERVICE_CA_FILE || undefined)
  trustCaFile(host, caFile)
  const output = outputOf(host, options, env)
  const { cwd, argon2id } = host
  const wanted = { flag: options.account, env, cwd }
  const settings = settingsWith(readSettings(flagsOf(options), env, cwd, output.warn), wanted)
  const insecureHttp = options.insecureHttp === true || isYes(env.SERVICE_INSECURE_HTTP)
  const place = { host, settings, env, cwd, insecureHttp }
  const address = openAddresses(place)
  const server = () => address('server')
  const insecure = options.insecureStorage === true
  const accounts = openAccounts({
    wanted,
    store: { env, argon2id, insecure, passphrase: askPassphrase(host, output) },
  })
  return {
    ...place,
    caFile,
    output,
    givenToken: openGivenToken(env, output.warn),
    setting: (name) => {
      demandProjectFile(place, name, 'project')
      return settings[name]?.value ?? ''
    },
    server,
    resolver: () => address('resolver'),
    accounts,
    session: async () => {
      const { resumeSession } = await import('./session/session.ts')
      const { openChains } = await import('./trust/chains.ts')
      const choice = await accounts.chosen(await server()).catch((error: unknown) => {
        throw withTokenHint(error, env)
      })
      const { account } = choice
      const store = await accounts.store(account.slot)
      const writes = openLocalWrites(env, output.warn)
      const known = {
        env,
        argon2id,
        names: namesOf(env, account),
        workspaceKeys: writes.keys(openKnownWorkspaceKeys(env, account, output.warn)),
        knownNames: writes.names(openKnownNames(env, account.server)),
        chains: (api: Api) =>
          openChains(api, writes.chains(openKnownChains(env, account.server)), output.warn),
        writes,
        warn: output.warn,
      }
      const session = await resumeSession(store, choice, known)
      if (session.stored.next === null) return session
      const { settleNext } = await import('./session/next_keys.ts')
      const isOther = await settleNext(session, output.warn)
      return isOther ? resumeSession(store, choice, known) : session
    },
  }
}

/** Adds a hint about the commands that work with a token. */
function withTokenHint(error: unknown, env: Context['env']): unknown {
  const variable = tokenVariable(env)
  if (!(error instanceof CliError) || error.code !== 'not_logged_in' || variable === undefined) {
    return error
  }
  if (env[variable] === '') {
    const hint = 'CI systems set an unknown secret to an empty value: check its name there'
    return new CliError('not_logged_in', `${error.message}, and ${variable} is empty`, hint)
  }
  return new CliError(
    'not_logged_in',
    `${error.message}, and this command needs a session: ${variable} is not enough`,
    'tokens work with run, call, mcp, proxy, whoami, status, secrets list, secrets get and secrets pull',
  )
}

/** Also of commands that need no settings. */
function outputOf(host: Host, { json, quiet }: GlobalOptions, env: Context['env']): Output {
  const { stdout, stderr } = host.streams
  const terminal = stdout.isTTY === true
  return openOutput({
    json: json === true,
    quiet: quiet === true,
    colour: hasColour(env, terminal),
    terminal,
    watched: stderr.isTTY === true,
    width: stdout.columns || Number(env.COLUMNS) || Number.POSITIVE_INFINITY,
    now: () => new Date(),
    out: (text) => stdout.write(text),
    err: (text) => stderr.write(text),
  })
}

function isYes(variable: string | undefined): boolean {
  return variable === '1' || variable === 'true'
}

function flagsOf({ server, resolver, workspace, project, env }: GlobalOptions) {
  const flags = { server, resolver, workspace, project, environment: env }
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))
}

/** Prints how to avoid the question after a passphrase was chosen. */
function askPassphrase(host: Host, output: Output): AskPassphrase {
  return async (opens) => {
    const { askSecret } = await import('./terminal/prompts.ts')
    if (opens !== null) {
      const hint =
        'unlock the session of this machine first: cloakroom unlock (or set SERVICE_PASSPHRASE)'
      const faultOf = async (answer: string) =>
        (await opens(answer)) ? null : 'The passphrase is wrong. Try again, or press Ctrl-C.'
      return askSecret(host, 'Passphrase of this machine', { hint, faultOf })
    }
    const { weaknessIn } = await import('./terminal/strong.ts')
    const passphrase = await askSecret(host, 'Choose a passphrase for this machine', {
      isNew: true,
      hint: 'no keyring on this machine: set SERVICE_PASSPHRASE or add --insecure-storage',
      faultOf: (answer) => weaknessIn(answer, 'passphrase'),
    })
    output.note('Each command asks for it. cloakroom unlock asks once for 8 hours.')
    return passphrase
  }
}

/** @throws CliError for a file that is not there, or has no certificate */
function trustCaFile(host: Host, path: string | undefined): void {
  if (path === undefined || trustAuthorities(readNamedFile(host, path).toString())) return
  throw new CliError(
    'invalid_file',
    `${path} is not a PEM file of certificates`,
    'a PEM file begins with -----BEGIN CERTIFICATE-----; check --ca-file and SERVICE_CA_FILE',
  )
}

type Env = Record<string, string | undefined>

const VARIABLE = 'SERVICE_TOKEN'

/** Reads the file once, on first use. @throws CliError with its path, but no content */
function openGivenToken(env: Env, warn: (...lines: string[]) => void) {
  let read: { token: string | undefined } | undefined
  return (): string | undefined => {
    read ??= { token: readToken(env, warn) }
    return read.token
  }
}

function readToken(env: Env, warn: (...lines: string[]) => void): string | undefined {
  const { env: filled, problems, warnings } = withSecretFiles(env, [VARIABLE])
  if (problems.length > 0) throw new CliError('usage', problems)
  warn(...warnings)
  return filled[VARIABLE]
}

/** The variable with a token. Does not read a file. */
function tokenVariable(env: Env): string | undefined {
  const file = fileVariableOf(VARIABLE)
  if (env[file]) return file
  return env[VARIABLE] === undefined ? undefined : VARIABLE
}
