// tier: quick
/**
 * A restarted process has the state that earlier ones saw of a signed workspace: an older database is detected, and
 * newer changes are accepted.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SeenStates } from '../../src/access/signed/seen_states.ts'
import { workspaceLinks } from '../../src/database/schema/index.ts'
import { scriptOf } from '../docs/blocks.ts'
import { API, resolveAs } from '../support/agent.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { preparedDatabase, type TestDatabase } from '../support/database.ts'
import { type SignedRows, signedRows } from '../support/signed_rows.ts'
import { watched } from '../support/watched.ts'

let database: TestDatabase
let directory: string
let file: string
let app: TestApp
let rows: SignedRows

beforeAll(async () => {
  database = await preparedDatabase()
  directory = mkdtempSync(join(tmpdir(), 'cr-seen-'))
  file = join(directory, 'signed_state.sqlite')
  app = await start()
  rows = await signedRows(
    { app, authorityOf: (host = API) => host },
    { secrets: { KEY: 'sk_live_1' } },
  )
}, 60_000)
afterAll(async () => {
  await app.stop()
  database.remove()
  rmSync(directory, { recursive: true })
})

const start = () => startTestApp({ SIGNED_STATE_FILE: file }, { database })

async function restart(): Promise<void> {
  await app.stop()
  app = await start()
}

async function codeOf(domain: string): Promise<unknown> {
  const target_url = `https://${domain}/`
  const headers = { authorization: 'Bearer SVC_SECRET_NONE' }
  const { body } = await resolveAs(app.resolver, rows.token, { target_url, headers })
  return (body as { error_code: string }).error_code
}

/** Executes the command of docs/guides/backup.md. A function of the shell replaces the program sqlite3. */
function acceptOlder(workspaceId: string): void {
  const command = scriptOf('docs/guides/backup.md', 'accept').replace('WORKSPACE_ID', workspaceId)
  const program = 'new (require("bun:sqlite").Database)(process.argv[1]).run(process.argv[2])'
  const script = `sqlite3() { '${process.execPath}' -e '${program}' "$@"; }; ${command}`
  const { exitCode, stderr } = watched(Bun.spawnSync(['sh', '-c', script], { cwd: directory }))
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: '' })
}

describe('after a restart', () => {
  test('a removed host stays removed if the newest link is cut off', async () => {
    await rows.link({ type: 'allowlist.changed', body: { add: [], remove: [API] } })
    expect(await codeOf(API)).toBe('domain_blocked')
    const [newest] = await app.connection.sql<{ statement: string; signature: Uint8Array }[]>`
      delete from workspace_links where workspace_id = ${rows.workspaceId} and seq = 3
      returning statement, signature`
    await restart()
    expect(await codeOf(API)).toBe('unverified_state')

    const { statement = '', signature = new Uint8Array() } = newest ?? {}
    const link = { workspaceId: rows.workspaceId, seq: 3, statement, signature }
    await app.connection.db.insert(workspaceLinks).values(link)
    await restart()
    expect(await codeOf(API)).toBe('domain_blocked')
  })

  test('an environment that returned to an older manifest is rejected; without its rows it is accepted', async () => {
    const { sql } = app.connection
    const one = { workspace_id: rows.workspaceId, revision: 1_000 }
    const seen = new SeenStates({ file })
    const place = `${rows.workspaceId}/${rows.projectId}/${rows.environment}`
    seen.see(place, { number: one.revision, hash: 'x', head: 0 })
    seen.close()
    await sql`update workspaces set policy_version = policy_version + 1 where id = ${rows.workspaceId}`
    await restart()
    expect(await codeOf('other.example')).toBe('unverified_state')
    await app.stop()
    acceptOlder(rows.workspaceId)
    app = await start()
    expect(await codeOf('other.example')).toBe('domain_blocked')
  })
})

test('only the owner can read the file', () => {
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('an unusable file stops the start, and the error names its setting', () => {
  const junk = join(directory, 'junk')
  writeFileSync(junk, 'no database '.repeat(1_000))
  for (const other of [junk, join(directory, 'none', 'file')])
    expect(() => new SeenStates({ file: other })).toThrow(/^SIGNED_STATE_FILE: /)
})

test('processes that share a file keep the newest state that any of them saw', () => {
  const shared = { file: join(directory, 'shared') }
  const [one, other] = [new SeenStates(shared), new SeenStates(shared)]
  const state = (number: number) => ({ number, hash: `h${number}`, head: 0 })
  one.see('w', state(5))
  other.see('w', state(4))
  other.see('v', state(1))
  expect(one.get('w')).toEqual(state(5))
  expect(one.get('v')).toEqual(state(1))
  expect(one.get('u')).toBeUndefined()
  one.close()
  other.close()
})
