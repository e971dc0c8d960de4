/**
 * The sources of server, workspace, project and environment, in this order: flag,
 * environment variable, project file `.cloakroom.json`, for addresses the account, global file. The project file holds ids and names
 * only and is meant to be committed: no token is read from one, and its addresses need this user's trust
 * (`addresses.ts`).
 */
import { renameSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { nameUsed } from '../core/config/aliases.ts'
import { faultOfName } from './arguments.ts'
import { isThere, readOwnFile, readProjectText } from './files/read.ts'
import { replaceFile } from './files/replace.ts'
import { homeOf } from './host.ts'
import { CliError } from './terminal/cli_error.ts'

const describeNamed = (kind: 'environment' | 'project') =>
  z.string().refine((text) => faultOfName(kind, text) === null)
const address = z.url({ protocol: /^https?$/ })
const fields = {
  server: address,
  resolver: address,
  workspace: z.string().min(1),
  project: describeNamed('project'),
  environment: describeNamed('environment'),
}
export type SettingsFile = { [name in keyof typeof fields]?: string }
export type SettingName = keyof SettingsFile
export const addressNames = ['server', 'resolver'] as const
export type AddressName = (typeof addressNames)[number]

export type Origin = 'flag' | 'environment' | 'project file' | 'account' | 'global file' | 'default'
/** `from` names the variable, if any. */
export type Setting = { value: string; origin: Origin; from?: string }
export type Settings = { [name in SettingName]?: Setting }

export const PROJECT_FILE = '.cloakroom.json'

export const settingNames = ['server', 'resolver', 'workspace', 'project', 'environment'] as const

const VARIABLES: Record<SettingName, readonly string[]> = {
  server: ['SERVICE_SERVER_URL', 'SERVICE_API_URL'],
  resolver: ['SERVICE_RESOLVER_URL'],
  workspace: ['SERVICE_WORKSPACE'],
  project: ['SERVICE_PROJECT'],
  environment: ['SERVICE_ENVIRONMENT'],
}
const DEFAULTS: SettingsFile = {
  server: 'http://127.0.0.1:8000',
  resolver: 'http://127.0.0.1:8080',
  environment: 'development',
}

type Env = Record<string, string | undefined>

/** Entries that are no valid settings are ignored and passed to `warn`, so that they do not block commands. */
export function readSettings(
  flags: SettingsFile,
  env: Env,
  cwd: string,
  warn: (text: string) => void,
): Settings {
  const projectFile = findProjectFile(cwd)
  const layers: [Origin, SettingsFile][] = [
    ['flag', flags],
    ['environment', fromEnvironment(env)],
    ['project file', projectFile ? readProject(projectFile, warn) : {}],
    ['global file', readFile(globalFile(env), warn)],
    ['default', DEFAULTS],
  ]
  const settings: Settings = {}
  for (const name of settingNames) {
    const setting = firstOf(layers, name)
    if (setting)
      settings[name] =
        setting.origin === 'environment' ? { ...setting, from: variableOf(env, name) } : setting
  }
  return settings
}

function firstOf(layers: readonly [Origin, SettingsFile][], name: SettingName): Setting | null {
  const given = layers.flatMap(([origin, layer]) => {
    const value = layer[name]
    return value === undefined ? [] : [{ value: trimSetting(name, value), origin }]
  })
  const [first, next] = given
  // A value that applies without the project file needs no trust in it.
  const isNothingNew = first?.origin === 'project file' && isAddress(name)
  return (isNothingNew && first.value === next?.value ? next : first) ?? null
}

/** `$XDG_CONFIG_HOME/cloakroom`, where the global file and, without a keyring, the session are. */
export function configDirectory(env: Env): string {
  return join(env.XDG_CONFIG_HOME || join(homeOf(env), '.config'), 'cloakroom')
}

export function globalFile(env: Env): string {
  return join(configDirectory(env), 'config.json')
}

/** The settings of the user's own file. */
export function readGlobalFile(env: Env): SettingsFile {
  return readFile(globalFile(env))
}

/** The default policy in a project file, unchecked. @throws CliError */
export function readDefaultPolicy(path: string): unknown {
  return parseFile(path)?.policy
}

/** The project file of this directory or the nearest one above. */
export function findProjectFile(cwd: string): string | null {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const candidate = join(directory, PROJECT_FILE)
    if (isThere(candidate)) return candidate
    if (directory === dirname(directory)) return null
  }
}

/** The settings of a project file, with normalized addresses. @throws CliError */
export function readProjectFile(path: string): SettingsFile {
  const read = readProject(path)
  const addresses = addressNames.flatMap((name) => {
    const { [name]: address } = read
    return address === undefined ? [] : [[name, trimSetting(name, address)]]
  })
  return { ...read, ...Object.fromEntries(addresses) }
}

/**
 * Changes some settings of a file and keeps the others; `undefined` removes one. A file that is no JSON is
 * kept beside the new one.
 *
 * @throws CliError for a value that no command could use
 */
export function updateFile(
  path: string,
  changes: { [name in SettingName]?: string | undefined },
): void {
  for (const [name, value] of Object.entries(changes)) demandUsable(name as SettingName, value)
  const present = parseFile(path)
  if (present === null) renameSync(path, `${path}.broken`)
  const merged = Object.entries({ ...present, ...changes }).filter(
    ([name, value]) => value !== undefined && isUsableSetting(name, value),
  )
  const text = `${JSON.stringify(Object.fromEntries(merged), null, 2)}\n`
  replaceFile(path, text, isProjectFile(path) ? 'committed' : 'secret')
}

/** A name that is not ours may be of another version. */
export function isUsableSetting(name: string, value: unknown): boolean {
  return !(name in fields) || fields[name as SettingName].safeParse(value).success
}

function demandUsable(name: SettingName, value: string | undefined): void {
  if (value === undefined || isUsableSetting(name, value)) return
  const fault = isName(name) ? faultOfName(name, value) : null
  if (fault) throw new CliError('usage', ...fault)
  throw new CliError(
    'usage',
    isAddress(name) ? `the ${name} is not an address` : `the ${name} is empty`,
    isAddress(name) ? 'example: https://vault.example.com' : null,
  )
}

function fromEnvironment(env: Env): SettingsFile {
  const found = settingNames.flatMap((name) => {
    const variable = VARIABLES[name].find((candidate) => env[candidate])
    return variable ? [[name, env[variable]]] : []
  })
  const values: SettingsFile = Object.fromEntries(found)
  for (const name of ['environment', 'project'] as const) {
    const fault = values[name] === undefined ? null : faultOfName(name, values[name])
    if (fault) throw new CliError('usage', `${variableOf(env, name)}: ${fault[0]}`, fault[1])
  }
  return values
}

function isName(name: SettingName): name is 'environment' | 'project' {
  return name === 'environment' || name === 'project'
}

function variableOf(env: Env, name: SettingName): string {
  const variable = VARIABLES[name].find((candidate) => env[candidate]) ?? ''
  return nameUsed(env, variable)
}

/**
 * A project file comes from others: entries that are no settings, such as a token, are rejected.
 *
 * @throws CliError
 */
function readProject(path: string, warn?: (text: string) => void): SettingsFile {
  const known = { ...fields, policy: 'defaults of new secrets' }
  const foreign = Object.keys(parseFile(path) ?? {}).filter((name) => !(name in known))
  if (foreign.length === 0) return readFile(path, warn)
  throw new CliError(
    'invalid_file',
    `${path} is not a cloakroom settings file: it contains ${foreign.join(', ')}`,
    `allowed: ${Object.keys(known).join(', ')}; fix or remove it`,
  )
}

function readFile(path: string, warn: (text: string) => void = () => {}): SettingsFile {
  const present = parseFile(path)
  if (present === null) {
    warn(`${path} is not a cloakroom settings file and is ignored`)
    return {}
  }
  const given = settingNames.filter((name) => present[name] !== undefined)
  const unusable = given.filter((name) => !isUsableSetting(name, present[name]))
  for (const name of unusable)
    warn(
      `${path} has an invalid ${name}, which is ignored (remove it with: cloakroom config ${name} --unset)`,
    )
  const usable = given.filter((name) => !unusable.includes(name))
  return Object.fromEntries(usable.map((name) => [name, String(present[name])]))
}

/** `null` for invalid JSON. A missing file counts as empty. @throws CliError */
function parseFile(path: string): Record<string, unknown> | null {
  const text = isProjectFile(path) ? readProjectText(path) : readOwnFile(path)
  if (text === null) return {}
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text))
  } catch {
    return null
  }
}

function isProjectFile(path: string): boolean {
  return basename(path) === PROJECT_FILE
}

function trimSetting(name: SettingName, value: string): string {
  return isAddress(name) ? value.replace(/\/+$/, '') : value
}

export function isAddress(name: SettingName): name is AddressName {
  return addressNames.some((address) => address === name)
}
