/** Every check once, and the selection of each command in the order in which it prints them. */
import { version } from '../../../package.json'
import { type Config, ConfigError } from '../../core/config/config.ts'
import type { Check, Patient, Settings } from './check.ts'
import { checkClock } from './clock.ts'
import { checkDatabase } from './database.ts'
import { checkBackups, checkProxies } from './deployment.ts'
import { checkFiles } from './files.ts'
import { keyChecks } from './keys.ts'
import { checkLimits, limitsOfSystem } from './limits.ts'
import { peopleChecks } from './people.ts'
import { storageChecks } from './storage.ts'
import { type Certificate, checkTls } from './tls.ts'
import { checkVectors } from './vectors.ts'

/** What a start has before its settings are known to be right. */
type Start = {
  settings: Config | ConfigError
  warnings: string[]
  certificate: () => Promise<Certificate>
}

const HEALTH = 'docs/operations.md#health'
const files: Check<Settings> = {
  name: 'files',
  docs: HEALTH,
  run: ({ config }) => checkFiles(config),
}
const clock: Check<Settings> = {
  name: 'clock',
  docs: 'docs/operations.md#databases',
  run: checkClock,
}
const limits: Check<Settings> = {
  name: 'limits',
  docs: HEALTH,
  run: ({ config }) => checkLimits(config, limitsOfSystem(config)),
}

/** `cloakroom self-check`; those that need settings are left out where these are wrong. */
export const SELF_CHECK: { nothing: Check<Start>[]; settings: Check<Settings>[] } = {
  nothing: [
    {
      name: 'settings',
      docs: HEALTH,
      run: ({ settings, warnings }) => {
        if (settings instanceof ConfigError) throw settings
        return ['valid', ...warnings].join('\n')
      },
    },
    { name: 'vectors', docs: HEALTH, run: () => checkVectors() },
    { name: 'tls', docs: HEALTH, run: async ({ certificate }) => checkTls(await certificate()) },
  ],
  settings: [
    files,
    { name: 'database', docs: HEALTH, run: ({ config }) => checkDatabase(config) },
    clock,
    limits,
  ],
}

/** `cloakroom doctor`; `cloakroom upgrade --check` has a report of facts instead (../upgrade_check). */
export const DOCTOR: Check<Patient>[] = [
  ...keyChecks,
  ...peopleChecks,
  ...storageChecks,
  clock,
  { name: 'version', docs: 'docs/upgrading.md', run: () => `Cloakroom ${version}` },
  files,
  limits,
  { name: 'backups', docs: 'docs/operations.md#backups-by-the-clock', run: checkBackups },
  { name: 'proxies', docs: 'docs/operations.md#settings', run: checkProxies },
]
