/**
 * `cloakroom self-check`: whether this executable works on this machine with these settings. It changes nothing,
 * and may run beside the server.
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
import { runChecks } from './check.ts'
import { SELF_CHECK } from './list.ts'
import type { Certificate } from './tls.ts'

const NO_KEYS = { SECRET_KEY: '', ENCRYPTION_KEY: '' }

/** Returns 0, 1 if a check failed, or 78 if the settings are wrong. */
export async function checkInstallation(
  certificate: () => Promise<Certificate>,
  json = false,
): Promise<number> {
  enterCleanEnvironment()
  const warnings: string[] = []
  const config = readSettings(process.env, (line) => warnings.push(line))
  const isWrong = config instanceof ConfigError
  const start = { settings: config, warnings, certificate }
  const findings = [
    ...(await runChecks(SELF_CHECK.nothing, start, messageOf)),
    ...(isWrong
      ? []
      : await runChecks(SELF_CHECK.settings, { config, now: systemClock.now }, messageOf)),
  ]
  const results = findings.map(({ check, level, said }) => ({ check, ok: level === 'ok', said }))
  process.stdout.write(json ? `${printableJson(results, 2)}\n` : results.map(lineOf).join(''))
  if (isWrong) return EX_CONFIG
  return results.every(({ ok }) => ok) ? 0 : EX_FAILED
}

/** A start would create missing keys; this does not. */
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function lineOf({ check, ok, said }: { check: string; ok: boolean; said: string }): string {
  return `${ok ? 'ok    ' : 'FAILED'}  ${check.padEnd(8)}  ${printableLines(said).replaceAll('\n', '\n                  ')}\n`
}
