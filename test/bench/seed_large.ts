/**
 * A database after years of use: many audit records, and many secrets with versions, sealed so that the server opens
 * them.
 */
import { randomBytes } from 'node:crypto'
import type postgres from 'postgres'
import { readConfig } from '../../src/core/config/config.ts'
import { OuterLayer, secretRow } from '../../src/core/crypto/outer_layer.ts'
import { openDatabase } from '../../src/database/open.ts'
import { foldDeltas } from '../../src/features/audit/upkeep.ts'
import { generateKeys } from '../../src/operator/own_keys.ts'
import { seedAudit } from './seed_audit.ts'

type Wanted = { workspaceId: string; records: number; secrets: number; versions: number }
export type Sizes = { database: number; audit: number; secrets: number }

const PER_PROJECT = 1000
const PER_ENVIRONMENT = 100
/** The sealed size of a value of 16 to 200 bytes: header, nonce and tag add 29. */
const LEAST_BYTES = 45
const MOST_BYTES = 230

/** Runs while no server uses the database. `env` are its settings. Returns the size on disk, in bytes. */
export async function seedLarge(
  env: Record<string, string>,
  { workspaceId, records, secrets, versions }: Wanted,
): Promise<Sizes> {
  const config = readConfig(env, generateKeys)
  const { sql, db, close } = await openDatabase(config, () => {})
  try {
    const outer = OuterLayer.parse(config.ENCRYPTION_KEY)
    for (let from = 0; from < secrets; from += PER_PROJECT) {
      const count = Math.min(PER_PROJECT, secrets - from)
      await seedProject(sql, outer, { workspaceId, name: `large-${from}`, count, versions })
    }
    await seedAudit(sql, { workspaceId, rows: records, days: 365 })
    await foldDeltas(db)
    await sql.unsafe('vacuum (analyze)')
    return await sizesOf(sql)
  } finally {
    await close()
  }
}

type Project = { workspaceId: string; name: string; count: number; versions: number }

async function seedProject(sql: postgres.Sql, outer: OuterLayer, project: Project): Promise<void> {
  const { workspaceId, name, count, versions } = project
  const projectId = Bun.randomUUIDv7()
  await sql`insert into projects (id, workspace_id, name) values (${projectId}, ${workspaceId}, ${name})`
  const rows = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const environment = `stage-${Math.floor(index / PER_ENVIRONMENT)}`
      const key = `SERVICE_${index}_API_KEY`
      const row = secretRow({ projectId, environment, key })
      const contents = Array.from({ length: versions }, ciphertext)
      const all = contents.map((content, at) =>
        outer.seal('secret_versions.value', workspaceId, [...row, { u32: at + 1 }], content),
      )
      const current = outer.seal('secrets.value', workspaceId, row, contents.at(-1) ?? ciphertext())
      return {
        id: Bun.randomUUIDv7(),
        environment,
        key,
        value: (await current).toHex(),
        versions: (await Promise.all(all)).map((blob) => blob.toHex()),
      }
    }),
  )
  await sql`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json)
        as g(id uuid, environment text, key text, value text, versions json)),
    made as (
      insert into secrets (id, workspace_id, project_id, environment, key, value, version)
      select id, ${workspaceId}, ${projectId}, environment, key, decode(value, 'hex'), ${versions} from given
      returning id)
    insert into secret_versions (secret_id, version, value)
    select g.id, v.number, decode(v.value, 'hex') from made join given g using (id)
      cross join lateral json_array_elements_text(g.versions) with ordinality as v(value, number)`
}

function ciphertext(): Uint8Array {
  return randomBytes(LEAST_BYTES + Math.floor(Math.random() * (MOST_BYTES - LEAST_BYTES)))
}

async function sizesOf(sql: postgres.Sql): Promise<Sizes> {
  const [sizes] = await sql<Sizes[]>`
    select sum(bytes)::float8 as database,
      (sum(bytes) filter (where relname like 'audit%'))::float8 as audit,
      (sum(bytes) filter (where relname in ('secrets', 'secret_versions')))::float8 as secrets
    from (select relname, pg_total_relation_size(oid) as bytes from pg_class
      where relkind = 'r' and relnamespace = current_schema()::regnamespace) tables`
  if (!sizes) throw new Error('no sizes')
  return sizes
}
