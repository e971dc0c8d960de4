/**
 * Where a command looks for its server, workspace, project and environment, in this order: flag,
 * environment variable, project file `.cloakroom.json`, global file. The project file holds ids and names
 * only and is meant to be committed: no token is read from one, and its addresses need this user's trust
 * (`addresses.ts`).
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { CliError } from './terminal/cli_error.ts'

const file = z.strictObject({
  server: z.url().optional(),
  resolver: z.url().optional(),
  workspace: z.string().optional(),
  project: z.string().optional(),
  environment: z.string().optional(),
})
export type SettingsFile = z.output<typeof file>
export type SettingName = keyof SettingsFile
export const addressNames = ['server', 'resolver'] as const
export type AddressName = (typeof addressNames)[number]

export type Origin = 'flag' | 'environment' | 'project file' | 'global file' | 'default'
export type Setting = { value: string; origin: Origin }
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

/** @throws CliError for a file that is not what it should be */
export function readSettings(flags: SettingsFile, env: Env, cwd: string): Settings {
  const projectFile = findProjectFile(cwd)
  const layers: [Origin, SettingsFile][] = [
    ['flag', flags],
    ['environment', fromEnvironment(env)],
    ['project file', projectFile ? readProjectFile(projectFile) : {}],
    ['global file', readFile(globalFile(env))],
    ['default', DEFAULTS],
  ]
  const settings: Settings = {}
  for (const name of Object.keys(VARIABLES) as SettingName[]) {
    const setting = firstOf(layers, name)
    if (setting) settings[name] = setting
  }
  return settings
}

function firstOf(layers: readonly [Origin, SettingsFile][], name: SettingName): Setting | null {
  const given = layers.flatMap(([origin, layer]) => {
    const value = layer[name]
    return value === undefined ? [] : [{ value: trimmed(name, value), origin }]
  })
  const [first, next] = given
  // What would hold without the project file needs no trust in it.
  const isNothingNew = first?.origin === 'project file' && isAddress(name)
  return (isNothingNew && first.value === next?.value ? next : first) ?? null
}

/** `$XDG_CONFIG_HOME/cloakroom`, where the global file and, without a keyring, the session are. */
export function configDirectory(env: Env): string {
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'cloakroom')
}

export function globalFile(env: Env): string {
  return join(configDirectory(env), 'config.json')
}

/** The project file of this directory or the nearest one above. */
export function findProjectFile(cwd: string): string | null {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const candidate = join(directory, PROJECT_FILE)
    if (existsSync(candidate)) return candidate
    if (directory === dirname(directory)) return null
  }
}

/** What a project file says, with its addresses as they are used. @throws CliError */
export function readProjectFile(path: string): SettingsFile {
  const read = readFile(path)
  const addresses = addressNames.flatMap((name) => {
    const { [name]: address } = read
    return address === undefined ? [] : [[name, trimmed(name, address)]]
  })
  return { ...read, ...Object.fromEntries(addresses) }
}

/** Changes some settings of a file and keeps the others; `undefined` takes one away. */
export function updateFile(
  path: string,
  changes: { [name in SettingName]?: string | undefined },
): void {
  const merged = Object.entries({ ...readFile(path), ...changes }).filter(
    ([, value]) => value !== undefined,
  )
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(merged), null, 2)}\n`)
}

function fromEnvironment(env: Env): SettingsFile {
  const found = Object.entries(VARIABLES).flatMap(([name, variables]) => {
    const variable = variables.find((candidate) => env[candidate])
    return variable ? [[name, env[variable]]] : []
  })
  return Object.fromEntries(found)
}

function readFile(path: string): SettingsFile {
  if (!existsSync(path)) return {}
  const parsed = file.safeParse(parseJson(readFileSync(path, 'utf8')))
  if (parsed.success) return parsed.data
  throw new CliError(
    'invalid_file',
    `${path} is not a settings file of cloakroom`,
    'correct or remove it',
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function trimmed(name: SettingName, value: string): string {
  return isAddress(name) ? value.replace(/\/+$/, '') : value
}

export function isAddress(name: SettingName): name is AddressName {
  return addressNames.some((address) => address === name)
}
