/**
 * Databases left by older versions: for each released schema the rows that the code of that time wrote, and
 * everything that must still work with them. `bun run fixture` creates missing ones (making/index.ts).
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const DIRECTORY = join(import.meta.dir, 'fixtures')
const SUFFIX = '.json.zst'

/** The API that agents called. */
export const HOST = 'api.upgrade.example'

/** The actions that were done, and the data with which they are used again. */
export type Story = {
  password: string
  people: string[]
  recoveryKey: string
  /** Plaintext by name: the project `shop` of the first person, environment development. */
  secrets: Record<string, string>
  agentToken: string
  revokedToken: string
  workloadToken: string
  /** Actions that the older version did not support. */
  skipped: string[]
}

export type Fixture = {
  /** Name of the newest migration. */
  schema: string
  /** The commit of the code that wrote the rows. */
  commit: string
  keys: { SECRET_KEY: string; ENCRYPTION_KEY: string }
  /** The port of the API at that time: the allowlist names it. */
  port: number
  migrations: { name: string; sha256: string }[]
  story: Story
  /** Count of rows by table. */
  counts: Record<string, number>
  /** SQL that puts the rows into the tables of that schema. */
  rows: string
}

/** Names of the schemas with a fixture, in their order. */
export function fixtureNames(): string[] {
  return readdirSync(DIRECTORY)
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -SUFFIX.length))
    .sort()
}

export function pathOf(schema: string): string {
  return join(DIRECTORY, `${schema}${SUFFIX}`)
}

/** The file that `cloakroom backup` of that version wrote, from 0016 on. */
export function backupOf(schema: string): string {
  return join(DIRECTORY, `${schema}.backup`)
}

export function readFixture(schema: string): Fixture {
  const bytes = Bun.zstdDecompressSync(readFileSync(pathOf(schema)))
  return JSON.parse(new TextDecoder().decode(bytes)) as Fixture
}
