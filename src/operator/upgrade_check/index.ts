/**
 * `cloakroom upgrade --check`: the changes that the next start of this executable would make to the configured
 * database, and whether it can make them. It writes nothing; the start itself upgrades.
 */
import { existsSync, readdirSync } from 'node:fs'
import type { TransactionSql } from 'postgres'
import { type Config, ConfigError } from '../../core/config/config.ts'
import { OuterLayer } from '../../core/crypto/outer_layer.ts'
import { openLog } from '../../core/log.ts'
import { readAnnouncedVersions } from '../../database/announced.ts'
import { RESERVE_BYTES } from '../../database/embedded/upkeep.ts'
import { requireEncryptionKey } from '../../database/keys/key_check.ts'
import { effectsOf } from '../../database/migrations/effects.ts'
import {
  type Migration,
  migrations,
  pendingOf,
  readApplied,
} from '../../database/migrations/migrate.ts'
import type { Database } from '../../database/open.ts'
import { requireKeys } from '../../database/prepare.ts'
import { problemIn } from '../backup/index.ts'
import { Failed } from '../checks/check.ts'
import { freeBytesOf } from '../checks/limits.ts'
import { lookAt } from './look.ts'
import { conclude, type Pending, type UpgradeFacts, type UpgradeReport } from './report.ts'

export { reportLines, type UpgradeReport } from './report.ts'

export async function checkUpgrade(config: Config, now: number): Promise<UpgradeReport> {
  const facts: UpgradeFacts = {
    schema: { database: null, program: migrations.at(-1)?.name ?? '' },
    pending: [],
    space: { needed_bytes: 0, free_bytes: null },
    backup: { newest: null },
    processes: [],
    problems: [],
  }
  try {
    await lookAt(config, (tx, db) => gather(facts, { config, tx, db }))
  } catch (error) {
    facts.problems.push(...problemsIn(error))
  }
  if (config.DB_HOST === undefined && existsSync(config.DATA_DIR))
    facts.space.free_bytes = freeBytesOf(config.DATA_DIR)
  facts.backup.newest = newestOf([facts.backup.newest, ...backupsIn(config.BACKUP_DIR)])
  return conclude(facts, now)
}

type Place = { config: Config; tx: TransactionSql; db: Database }

/** Gathers facts. Those that were found are kept if a later step fails. */
async function gather(facts: UpgradeFacts, { config, tx, db }: Place): Promise<void> {
  const applied = await readApplied(tx)
  facts.schema.database = applied?.at(-1)?.name ?? null
  facts.processes = await readAnnouncedVersions(tx)
  if (applied === null) return
  const pending = pendingOf(applied)
  const sizes = await sizesIn(tx)
  facts.pending = pending.map((migration) => describe(migration, sizes))
  const worked = new Map(
    facts.pending.flatMap(({ works_through }) =>
      works_through.map(({ table, bytes }) => [table, bytes]),
    ),
  )
  // Changed rows are written beside the existing ones, and to the log.
  const written = 2 * [...worked.values()].reduce((sum, bytes) => sum + bytes, 0)
  const reserve = config.DB_HOST === undefined ? RESERVE_BYTES : 0
  if (pending.length > 0) facts.space.needed_bytes = written + reserve
  facts.backup.newest = await readLastBackup(tx)
  // With an older schema, the start that migrates it counts the rows under SECRET_KEY.
  if (pending.length === 0) await requireKeys(db, config, openLog('error'))
  else await requireEncryptionKey(db, OuterLayer.parse(config.ENCRYPTION_KEY))
}

const STRENGTH = ['nobody', 'writers', 'everybody'] as const

function describe({ name, text, breaksOlder }: Migration, sizes: Map<string, number>): Pending {
  const effects = effectsOf(text)
  const long = new Set(effects.filter(({ isLong }) => isLong).flatMap(({ table }) => table ?? []))
  return {
    name,
    does: effects.map(({ does }) => does),
    blocks:
      STRENGTH.findLast((blocks) => effects.some((effect) => effect.blocks === blocks)) ?? 'nobody',
    works_through: [...long].map((table) => ({ table, bytes: sizes.get(table) ?? 0 })),
    breaks_older: breaksOlder === true,
  }
}

async function sizesIn(tx: TransactionSql): Promise<Map<string, number>> {
  const rows = await tx<{ name: string; bytes: number }[]>`
    select relname as name, pg_total_relation_size(oid)::float8 as bytes from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace`
  return new Map(rows.map(({ name, bytes }) => [name, bytes]))
}

/** The column exists since 0018. */
async function readLastBackup(tx: TransactionSql): Promise<string | null> {
  const [row] = await tx<{ at: string | null }[]>`
    select to_jsonb(i) ->> 'backed_up_at' as at from instance i`
  return row?.at ?? null
}

/** Finds backups by their names, such as `cloakroom-20261123T023000Z.backup`. */
function backupsIn(directory: string | undefined): string[] {
  if (directory === undefined || !existsSync(directory)) return []
  return readdirSync(directory).flatMap((name) => {
    const [, y, m, d, hour, minute, second] =
      /^cloakroom-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/.exec(name) ?? []
    return y === undefined ? [] : [`${y}-${m}-${d}T${hour}:${minute}:${second}Z`]
  })
}

function newestOf(moments: readonly (string | null)[]): string | null {
  const known = moments.flatMap((moment) => moment ?? [])
  return known.toSorted((a, b) => Date.parse(b) - Date.parse(a))[0] ?? null
}

/** @throws unexpected errors */
function problemsIn(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems
  const problem = problemIn(error)
  if (problem) return [problem.message]
  if (error instanceof Error && (error instanceof Failed || 'code' in error)) return [error.message]
  throw error
}
