/**
 * `cloakroom self-check`: whether this executable works on this machine with these settings. It changes nothing,
 * and may run beside the server. Each check stands alone and says what it found.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { enterCleanEnvironment } from '../../core/clean_environment.ts'
import { systemClock } from '../../core/clock.ts'
import { type Config, ConfigError, readConfig } from '../../core/config/config.ts'
import { EX_CONFIG, EX_FAILED } from '../../core/exit_codes.ts'
import { printableJson, printableLines } from '../../core/printable.ts'
import { KEYS_FILE } from '../../database/embedded/data_directory.ts'
import { readOwnKeys } from '../own_keys.ts'
import { type Check, type Result, runChecks } from './check.ts'
import { checkClock } from './clock.ts'
import { checkDatabase } from './database.ts'
import { checkFiles } from './files.ts'
import { checkLimits, limitsOfSystem } from './limits.ts'
import { type Certificate, checkTls } from './tls.ts'
import { checkVectors } from './vectors.ts'

const NO_KEYS = { SECRET_KEY: '', ENCRYPTION_KEY: '' }

/** Returns 0, 1 if a check failed, or 78 if the settings are wrong. */
export async function checkInstallation(
  certificate: () => Promise<Certificate>,
  json = false,
): Promise<number> {
  enterCleanEnvironment()
  const warnings: string[] = []
  const config = readSettings(process.env, (line) => warnings.push(line))
  const results = await runChecks([
    {
      name: 'settings',
      run: () =>
        config instanceof ConfigError ? Promise.reject(config) : ['valid', ...warnings].join('\n'),
    },
    { name: 'vectors', run: () => checkVectors() },
    { name: 'tls', run: async () => checkTls(await certificate()) },
    ...(config instanceof ConfigError ? [] : checksOf(config)),
  ])
  process.stdout.write(json ? `${printableJson(results, 2)}\n` : results.map(lineOf).join(''))
  if (config instanceof ConfigError) return EX_CONFIG
  return results.every(({ ok }) => ok) ? 0 : EX_FAILED
}

/** What the settings say where things are. */
function checksOf(config: Config): Check[] {
  return [
    { name: 'files', run: () => checkFiles(config) },
    { name: 'database', run: () => checkDatabase(config) },
    { name: 'clock', run: () => checkClock(config, systemClock) },
    { name: 'limits', run: () => checkLimits(config, limitsOfSystem(config)) },
  ]
}

/** A start would make keys that are missing; this does not. */
function readSettings(env: NodeJS.ProcessEnv, warn: (line: string) => void): Config | ConfigError {
  const ownKeys = (dataDir: string) =>
    existsSync(join(dataDir, KEYS_FILE)) ? readOwnKeys(dataDir, () => undefined) : NO_KEYS
  try {
    return readConfig(env, ownKeys, warn)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}

function lineOf({ check, ok, said }: Result): string {
  return `${ok ? 'ok    ' : 'FAILED'}  ${check.padEnd(8)}  ${printableLines(said).replaceAll('\n', '\n                  ')}\n`
}
