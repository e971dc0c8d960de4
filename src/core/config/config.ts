/**
 * Reads the environment by the declarations of settings.ts. All problems are reported together, one line each, and never
 * contain a value.
 */
import { join } from 'node:path'
import { z } from 'zod'
import { conflictLine, withAliases } from './aliases.ts'
import { groupSettings } from './groups.ts'
import { fileVariableOf, withSecretFiles } from './secret_files.ts'
import { settings } from './settings.ts'

export type { Rate } from './rate.ts'

type Parsed = z.output<typeof settings>
type Variable = keyof Parsed
type Meta = { about: string; example: string; required?: true; secret?: true }

/** Settings as the process uses them. Both keys are present. */
export type Config = Parsed & { SECRET_KEY: string; ENCRYPTION_KEY: string }

/** Stops a start with exit code 78 (EX_CONFIG of sysexits.h) and one line per problem. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** Keys that the embedded mode generates if they are not configured. */
export type OwnKeys = { SECRET_KEY: string; ENCRYPTION_KEY: string }

/**
 * Reads the environment. `ownKeys` returns the keys in DATA_DIR. It is called only in embedded mode and only if a key is
 * missing. `warn` receives problems that do not stop a start.
 *
 * @throws ConfigError with every problem found
 */
export function readConfig(
  env: Record<string, string | undefined>,
  ownKeys: (dataDir: string) => OwnKeys,
  warn: (line: string) => void = () => {},
): Config {
  const { env: byName, conflicts } = withAliases(env)
  const contradicting = variables().filter((name) => conflicts.includes(name))
  if (contradicting.length > 0) throw new ConfigError(contradicting.map(conflictLine))
  const files = withSecretFiles(byName, variables().filter(isSecret))
  if (files.problems.length > 0) throw new ConfigError(files.problems)
  for (const line of files.warnings) warn(line)
  const named = files.env
  const given = Object.fromEntries(
    variables().flatMap((name) =>
      named[name] === undefined || named[name] === '' ? [] : [[name, named[name]]],
    ),
  )
  const parsed = settings.safeParse(given)
  if (!parsed.success)
    throw new ConfigError(parsed.error.issues.map((issue) => problemLine(issue, files.paths)))
  const missing = listMissingVariables(parsed.data, new Set(Object.keys(given)))
  if (missing.length > 0) throw new ConfigError(missing)
  const contradictions = [...workerProblems(parsed.data), ...portProblems(parsed.data)]
  if (contradictions.length > 0) throw new ConfigError(contradictions)
  const keys =
    parsed.data.SECRET_KEY && parsed.data.ENCRYPTION_KEY ? undefined : ownKeys(parsed.data.DATA_DIR)
  const { DB_HOST, DATA_DIR, SIGNED_STATE_FILE } = parsed.data
  const ownFile = DB_HOST ? undefined : join(DATA_DIR, 'signed_state.sqlite')
  return {
    ...parsed.data,
    SIGNED_STATE_FILE: SIGNED_STATE_FILE ?? ownFile,
    SECRET_KEY: parsed.data.SECRET_KEY ?? keys?.SECRET_KEY ?? '',
    ENCRYPTION_KEY: parsed.data.ENCRYPTION_KEY ?? keys?.ENCRYPTION_KEY ?? '',
  }
}

/** Markdown tables of all variables, by group. docs/reference/settings.md and `cloakroom settings` have them. */
export function documentConfig(): string {
  return groupSettings(describeConfig())
    .map(({ heading, settings }) => {
      const head = '| variable | meaning | values | default |\n|---|---|---|---|'
      return [`## ${heading}`, [head, ...settings.map(rowOf)].join('\n')].join('\n\n')
    })
    .join('\n\n')
}

type Described = ReturnType<typeof describeConfig>[number]

function rowOf({ name, about, values, fallback, required, example, file }: Described): string {
  const normal = [fallback && `\`${fallback}\``, required && 'required'].filter(Boolean).join(', ')
  const given = values || `such as \`${example}\``
  return `| \`${name}\`${file ? '†' : ''} | ${about} | ${given} | ${normal} |`
}

/** The settings of a process for its operator. A secret is redacted. */
export function showConfig(config: Config): Record<string, unknown> {
  const set = variables().filter((name) => config[name] !== undefined)
  return Object.fromEntries(set.map((name) => [name, isSecret(name) ? '[redacted]' : config[name]]))
}

/** Every variable with its meaning, default and an example. */
export function describeConfig() {
  return variables().map((name) => {
    const { about, example, required = false } = metaOf(name)
    const file = isSecret(name) ? fileVariableOf(name) : null
    return {
      name,
      about,
      values: valuesOf(name),
      fallback: defaultOf(name),
      required,
      example,
      file,
    }
  })
}

function variables(): Variable[] {
  return Object.keys(settings.shape) as Variable[]
}

function metaOf(name: Variable): Meta {
  return settings.shape[name].meta() as unknown as Meta
}

function isSecret(name: Variable): boolean {
  return metaOf(name).secret ?? false
}

/** The accepted values, from the complaint about a value that no setting with a rule accepts. Empty without a rule. */
function valuesOf(name: Variable): string {
  const [issue] = z.object({ it: settings.shape[name] }).safeParse({ it: '\0' }).error?.issues ?? []
  if (issue === undefined) return ''
  if (issue.code === 'invalid_value')
    return issue.values.map((value) => `\`${String(value)}\``).join(', ')
  return issue.message
    .replace(/^must (?:be|have) (?:an? )?/, '')
    .replace(/^(?:whole )?number (?:of )?/, '')
}

function defaultOf(name: Variable): string {
  const value = z.object({ it: settings.shape[name] }).safeParse({}).data?.it
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return ''
  if (typeof value === 'object' && !Array.isArray(value)) return `${value.count}/${value.seconds}`
  return `${value}`
}

/** Production needs all required settings. PostgreSQL without production needs those that cannot be generated. */
function listMissingVariables(parsed: Parsed, given: Set<string>): string[] {
  const production = parsed.SERVICE_SETTINGS === 'production'
  const withServer: Variable[] = ['DB_NAME', 'DB_USER', 'SECRET_KEY', 'ENCRYPTION_KEY']
  const needed = production
    ? variables().filter((name) => metaOf(name).required)
    : parsed.DB_HOST
      ? withServer
      : []
  const why = production ? 'SERVICE_SETTINGS=production' : 'DB_HOST'
  return needed
    .filter((name) => !given.has(name))
    .map((name) => `${name}: must be set with ${why} (example: ${metaOf(name).example})`)
}

/** Settings that several processes cannot share. */
function workerProblems({ WORKERS, DB_HOST, ADMIN_PORT }: Parsed): string[] {
  if (WORKERS === 1) return []
  const isCramped = ADMIN_PORT === 0 || (ADMIN_PORT ?? 0) + WORKERS > 65_536
  return [
    ...(DB_HOST ? [] : ['WORKERS: more than 1 needs PostgreSQL: set DB_HOST (example: 1)']),
    ...(isCramped
      ? ['ADMIN_PORT: must be above 0 and leave one port per worker up to 65535 (example: 9464)']
      : []),
  ]
}

/** Each port can be used once. 0 chooses a different port each time. */
function portProblems(parsed: Parsed): string[] {
  const { PORT, RESOLVER_PORT, ADMIN_PORT = 0, WORKERS, ROLE } = parsed
  const opened = [
    ...(ROLE === 'resolver' ? [] : [PORT]),
    ...(ROLE === 'control-plane' ? [] : [RESOLVER_PORT]),
  ].filter((port) => port !== 0)
  const isTwice = new Set(opened).size < opened.length
  const isAdmin = (port: number) => port >= ADMIN_PORT && port < ADMIN_PORT + WORKERS
  return [
    ...(isTwice ? ['RESOLVER_PORT: must differ from PORT (example: 8080)'] : []),
    ...(ADMIN_PORT > 0 && opened.some(isAdmin)
      ? ['ADMIN_PORT: must differ from PORT and RESOLVER_PORT (example: 9464)']
      : []),
  ]
}

/** The variable, the problem with its value, and an example. Names the file of a value from one of `files`. */
export function problemLine(
  issue: z.core.$ZodIssue,
  files: ReadonlyMap<string, string> = new Map(),
): string {
  const name = String(issue.path[0]) as Variable
  const path = files.get(name)
  const origin = path === undefined ? name : `${fileVariableOf(name)}: ${path}`
  return `${origin}: ${complaintOf(issue)} (example: ${metaOf(name).example})`
}

function complaintOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`
  // The library's own messages are about types.
  return issue.message.startsWith('must ') ? issue.message : 'is invalid'
}
