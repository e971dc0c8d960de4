/** Lists each check once, and the checks that each command selects, in the order in which it prints them. */
import { version } from '../../../package.json'
import { type Config, ConfigError } from '../../core/config/config.ts'
import type { Check, Configured, Patient } from './check.ts'
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

/** Checks that need no settings. */
type Start = {
  settings: Config | ConfigError
  warnings: string[]
  certificate: () => Promise<Certificate>
}

const health = <Needs>(name: string, run: Check<Needs>['run']): Check<Needs> => ({
  name,
  docs: 'docs/guides/monitoring.md#health',
  run,
})
const files = health('files', ({ config }: Configured) => checkFiles(config))
const limits = health('limits', ({ config }: Configured) =>
  checkLimits(config, limitsOfSystem(config)),
)
const clock = { name: 'clock', docs: 'docs/guides/self-hosting.md#database', run: checkClock }

/** `cloakroom self-check`; if the settings are wrong, only the checks that need nothing run. */
export const SELF_CHECK: { nothing: Check<Start>[]; settings: Check<Configured>[] } = {
  nothing: [
    health('settings', ({ settings, warnings }) => {
      if (settings instanceof ConfigError) throw settings
      return ['valid', ...warnings].join('\n')
    }),
    health('vectors', () => checkVectors()),
    health('tls', async ({ certificate }) => checkTls(await certificate())),
  ],
  settings: [files, health('database', ({ config }) => checkDatabase(config)), clock, limits],
}

/** `cloakroom doctor`. `cloakroom upgrade --check` selects none: ../upgrade_check/report.ts has the reason. */
export const DOCTOR: Check<Patient>[] = [
  ...keyChecks,
  ...peopleChecks,
  ...storageChecks,
  clock,
  { name: 'version', docs: 'docs/guides/upgrade.md', run: () => `Cloakroom ${version}` },
  files,
  limits,
  { name: 'backups', docs: 'docs/guides/backup.md#scheduled-backups', run: checkBackups },
  { name: 'proxies', docs: 'docs/guides/self-hosting.md#behind-a-proxy', run: checkProxies },
]
