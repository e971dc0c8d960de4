/** `cloakroom serve`: starts the application, says where it is, and stops it gracefully. */
import { type App, startApp } from '../app.ts'
import { type Config, ConfigError, readConfig } from '../kernel/config.ts'
import { DataDirectoryError } from '../kernel/db/embedded/open.ts'
import { describeError, openLog } from '../kernel/log.ts'
import { readOwnKeys } from '../kernel/own_keys.ts'
import { enterCleanEnvironment } from './environment.ts'
import { EX_CONFIG } from './exit.ts'

export async function runServe(): Promise<number> {
  enterCleanEnvironment()
  try {
    const notices: string[] = []
    const config = readConfig(process.env, (dataDir) =>
      readOwnKeys(dataDir, (text) => notices.push(text)),
    )
    return await serveUntilStopped(config, notices)
  } catch (error) {
    // A start that failed half-way may have left a listener or a timer: nothing of it may live on.
    process.exit(explain(error))
  }
}

async function serveUntilStopped(config: Config, notices: readonly string[]): Promise<number> {
  const log = openLog(config.LOG_LEVEL)
  const stopped = Promise.withResolvers<number>()
  const app = await startApp(config, {
    log,
    onFailure: (reason) => {
      log.error('the database failed', { reason })
      stopped.resolve(1)
    },
  })
  let asked = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // Never without a handler, not even for a moment: the default would end it half-way.
    process.on(signal, () => {
      if (asked) process.exit(1)
      asked = true
      log.info('stopping', { signal })
      stopped.resolve(0)
    })
  }
  process.stdout.write(banner(app, notices))
  const code = await stopped.promise
  await app.stop()
  log.info('stopped', { code })
  process.exit(code)
}

function banner(
  { controlPlane, resolver, admin, connection }: App,
  notices: readonly string[],
): string {
  const database = connection.kind === 'embedded' ? 'embedded, in' : 'PostgreSQL,'
  return [
    'Cloakroom is ready.',
    ...(controlPlane ? [`  control plane  ${controlPlane}`] : []),
    ...(resolver ? [`  resolver       ${resolver}`] : []),
    ...(admin ? [`  metrics        ${admin}/metrics`] : []),
    `  database       ${database} ${connection.location}`,
    ...notices.map((notice) => `  notice         ${notice}`),
    ...(controlPlane ? ['', `Try:  curl ${controlPlane}/api/status/health/`] : []),
    'Stop: Ctrl-C',
    '',
  ].join('\n')
}

/** A start that fails says why in one line per problem, and shows no stack. */
function explain(error: unknown): number {
  if (error instanceof ConfigError) {
    process.stderr.write(error.problems.map((problem) => `cloakroom: ${problem}\n`).join(''))
    return EX_CONFIG
  }
  process.stderr.write(`cloakroom: ${reasonOf(error)}\n`)
  return 1
}

function reasonOf(error: unknown): string {
  if (error instanceof DataDirectoryError) return error.message
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'EADDRINUSE')
    return 'PORT, RESOLVER_PORT or ADMIN_PORT is in use by another program (set another, or 0 for a free one)'
  if (/^E?CONN|^ENOENT|^CONNECT/.test(code))
    return `the database cannot be reached (${code}): check DB_HOST and DB_PORT`
  if (/^28|^3D/.test(code))
    return `the database refuses us (${code}): check DB_NAME, DB_USER and DB_PASSWORD`
  const { error: name, cause, at } = describeError(error)
  const message = error instanceof Error ? error.message : ''
  return `could not start: ${message} (${[name, cause, code].filter(Boolean).join(', ')}) at ${at}`
}
