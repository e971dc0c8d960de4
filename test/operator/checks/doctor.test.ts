// tier: all, both databases in test:all
/** `cloakroom doctor`: each finding is provoked, and a healthy instance has none. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../../src/core/config/config.ts'
import { issueWorkloadToken } from '../../../src/features/agents/contract.ts'
import type { DoctorLimits, Finding } from '../../../src/operator/checks/check.ts'
import { examine, USUAL_LIMITS } from '../../../src/operator/checks/doctor.ts'
import { textOf } from '../../docs/documents.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { databaseKind } from '../../support/database.ts'
import { registerPerson } from '../../support/people.ts'
import { requires } from '../../support/requires.ts'
import { clientMade, mint, signedProject } from '../../support/statements.ts'
import { operate } from '../backup/support.ts'
import { environmentOf } from '../rekey_outer/support.ts'

const keyOf = (fill: number) => Buffer.alloc(32, fill).toString('base64url')
const backups = mkdtempSync(join(tmpdir(), 'cr-doctor-'))
/** A test machine may lack any resource. */
const ROOMY: DoctorLimits = { ...USUAL_LIMITS, freeBytes: 0, daysLeft: 0, connectionShare: 1 }
type Wrong = Exclude<Finding['level'], 'ok'>
/** Characters of a hostile name. */
const CONTROL = '\u001b]0;owned\u0007\u202e'

let app: TestApp
let tokenId: string
let workspaceId: string

const sql = () => app.connection.sql
const look = (config: Partial<Config> = {}, limits: Partial<DoctorLimits> = {}) =>
  examine({
    connection: app.connection,
    config: { ...app.config, ...config },
    now: app.clock.now,
    limits: { ...ROOMY, ...limits },
  })
const wrongIn = (findings: Finding[]) =>
  Object.fromEntries(
    findings.flatMap(({ check, level }) => (level === 'ok' ? [] : [[check, level]])),
  )

beforeAll(async () => {
  app = await startTestApp({ BACKUP_DIR: backups })
  const project = await signedProject(app)
  workspaceId = project.workspaceId
  const [token, days] = [mint(), 90 * 24 * 60 * 60 * 1000]
  const expires_at = new Date(Date.now() + days).toISOString()
  await project.owner.api.call(issueWorkloadToken, {
    params: { project_id: project.projectId },
    body: { token: await clientMade(project, token, { label: 'ci', expires_at }) },
  })
  tokenId = token.id
  // Deletes the personal workspace, which current accounts sign.
  await sql()`delete from workspaces where id <> ${workspaceId}`
  await sql()`update instance set backed_up_at = now()`
}, 60_000)
afterAll(async () => {
  await app.stop()
  rmSync(backups, { recursive: true, force: true })
})

test('a healthy instance has no finding', async () => {
  const findings = await look()
  expect(findings.length).toBeGreaterThan(18)
  expect(findings.filter(({ level }) => level !== 'ok')).toEqual([])
})

test('docs/guides/monitoring.md lists each check, and each check cites an existing heading', async () => {
  const [, table = ''] =
    /^### Check a running server\n.*?\n\n(\|.*?)\n\n/ms.exec(textOf('docs/guides/monitoring.md')) ??
    []
  const listed = table
    .split('\n')
    .slice(2)
    .flatMap((row) => row.split('|')[1]?.match(/\w+/g) ?? [])
  const findings = await look()
  expect(listed.toSorted()).toEqual(findings.map(({ check }) => check).toSorted())
  for (const { docs } of findings) {
    const [file = '', anchor] = docs.split('#')
    const headings = [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
      text
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    )
    if (anchor !== undefined) expect(headings).toContain(anchor)
  }
})

test('a token with a recorded use, by this version or an older one, is not unused', async () => {
  await sql()`update tokens set created_at = now() - interval '31 days'`
  try {
    await sql()`insert into token_uses select id, now() from tokens`
    expect(wrongIn(await look())).toEqual({})
    await sql()`delete from token_uses`
    await sql()`update tokens set last_used_at = now()`
    expect(wrongIn(await look())).toEqual({})
  } finally {
    await sql()`delete from token_uses`
    await sql()`update tokens set created_at = now(), last_used_at = null`
  }
})

/** The change to the database, its reversal, and the finding. */
const provoked: [check: string, level: Wrong, done: string, undone: string][] = [
  [
    'tokens_without_end',
    'warn',
    'update tokens set expires_at = null',
    `update tokens set expires_at = now() + interval '90 days'`,
  ],
  [
    'tokens_ending',
    'warn',
    `update tokens set expires_at = now() + interval '6 days'`,
    `update tokens set expires_at = now() + interval '90 days'`,
  ],
  [
    'tokens_ended',
    'warn',
    `update tokens set expires_at = now() - interval '6 days'`,
    `update tokens set expires_at = now() + interval '90 days'`,
  ],
  [
    'tokens_unused',
    'warn',
    `update tokens set created_at = now() - interval '31 days'`,
    'update tokens set created_at = now()',
  ],
  [
    'rekey',
    'warn',
    'update workspaces set rekey_required = true',
    'update workspaces set rekey_required = false',
  ],
  [
    'unsigned_rows',
    'warn',
    'alter table token_grants rename to hidden; create table token_grants (like hidden)',
    'drop table token_grants; alter table hidden rename to token_grants',
  ],
  [
    'plain_workspaces',
    'warn',
    `insert into workspaces (id, name, type) values ('01920000-0000-7000-8000-000000000001', '${CONTROL}', 'shared')`,
    `delete from workspaces where id = '01920000-0000-7000-8000-000000000001'`,
  ],
  [
    'members',
    'warn',
    'create table kept as select id, signing_key from users; update users set signing_key = null',
    'update users u set signing_key = k.signing_key from kept k where k.id = u.id; drop table kept',
  ],
  [
    'backups',
    'fail',
    'update instance set backup_failed_at = now()',
    'update instance set backup_failed_at = null',
  ],
  [
    'backups',
    'warn',
    `update instance set backed_up_at = now() - interval '9 days'`,
    'update instance set backed_up_at = now()',
  ],
  [
    'encryption_key',
    'fail',
    `update users set encrypted_private_key = set_byte(encrypted_private_key, 2, get_byte(encrypted_private_key, 2) # 1)`,
    `update users set encrypted_private_key = set_byte(encrypted_private_key, 2, get_byte(encrypted_private_key, 2) # 1)`,
  ],
  [
    'schema',
    'warn',
    `create table applied as select * from cloakroom_migrations; delete from cloakroom_migrations where name = (select max(name) from applied)`,
    'insert into cloakroom_migrations select * from applied where name = (select max(name) from applied); drop table applied',
  ],
]

test.each(provoked)('%s is reported (%s)', async (check, level, done, undone) => {
  for (const statement of done.split('; ')) await sql().unsafe(statement)
  try {
    expect(wrongIn(await look())).toEqual({ [check]: level })
  } finally {
    for (const statement of undone.split('; ')) await sql().unsafe(statement)
  }
  expect(wrongIn(await look())).toEqual({})
})

const settings: [
  check: string,
  level: Wrong,
  config: Partial<Config>,
  limits: Partial<DoctorLimits>,
][] = [
  ['encryption_key', 'warn', { ENCRYPTION_KEY: `${keyOf(9)},${keyOf(7)}` }, {}],
  [
    'secret_key',
    'warn',
    { SECRET_KEY: 'a-newer-secret-key-a-newer-secret-key,test-secret-key-test-secret-key-test' },
    {},
  ],
  ['secret_key', 'fail', { SECRET_KEY: 'a-newer-secret-key-a-newer-secret-key' }, {}],
  [
    'secret_key',
    'warn',
    { SECRET_KEY: 'test-secret-key-test-secret-key-test,an-old-secret-key-an-old-secret-key' },
    {},
  ],
  ['backups', 'warn', { BACKUP_DIR: undefined }, {}],
  ['proxies', 'warn', { SERVICE_SERVER_URL: 'https://vault.example.com' }, {}],
  ['wal', 'warn', {}, { walBytes: 1 }],
  databaseKind === 'embedded'
    ? ['limits', 'fail', { RESOLVER_CONCURRENCY: 10_000_000 }, {}]
    : ['connections', 'warn', {}, { connectionShare: 0 }],
]

test.each(settings)('%s is reported for settings (%s)', async (check, level, config, limits) => {
  expect(wrongIn(await look(config, limits))).toEqual({ [check]: level })
})

if (databaseKind === 'embedded') {
  test('a nearly full disk and files that others can read are reported', async () => {
    expect(wrongIn(await look({}, { freeBytes: Number.MAX_SAFE_INTEGER }))).toEqual({
      backups: 'warn',
      size: 'warn',
    })
    chmodSync(app.config.DATA_DIR, 0o755)
    expect(wrongIn(await look())).toEqual({ files: 'fail' })
    chmodSync(app.config.DATA_DIR, 0o700)
  })
}

{
  const { test } = requires('postgresql')
  test('a replication slot without a reader is reported, and so is a differing clock', async () => {
    await sql()`select pg_create_physical_replication_slot('nobody_reads', true)`
    expect(wrongIn(await look())).toEqual({ slots: 'warn' })
    await sql()`select pg_drop_replication_slot('nobody_reads')`
    const patient = { connection: app.connection, config: app.config, limits: ROOMY }
    const findings = await examine({ ...patient, now: () => Date.now() + 60_000 })
    expect(wrongIn(findings)).toEqual({ clock: 'fail' })
  })
}

test('the command reports findings beside the running server, with its exit code, and changes nothing', async () => {
  const env = environmentOf(app)
  await sql()`update tokens set label = ${CONTROL}, expires_at = null where id = ${tokenId}`
  await sql()`update workspaces set name = ${CONTROL}`
  const before =
    await sql()`select pg_current_xact_id_if_assigned() as own, (select count(*) from audit_logs) as logs`
  const { code, out } = await operate({ ...env, BACKUP_DIR: backups }, 'doctor', '--json')
  const findings = JSON.parse(out) as Finding[]
  expect({ code, found: findings.find(({ check }) => check === 'tokens_without_end') }).toEqual({
    code: 0,
    found: {
      check: 'tokens_without_end',
      level: 'warn',
      said: '1 token never expires',
      todo: 'ask members to revoke them and issue others with --expires-in-days',
      docs: 'docs/guides/access.md#tokens',
    },
  })
  const text = await operate({ ...env, BACKUP_DIR: backups }, 'doctor')
  expect(text.out).toContain('warn  tokens_without_end')
  for (const shown of [out, text.out]) {
    expect(shown).not.toContain('owned')
    for (const character of CONTROL.match(/[^\w\]\];]/g) ?? [])
      expect(shown).not.toContain(character)
    expect(shown).not.toContain(app.config.ENCRYPTION_KEY)
  }
  expect(
    await sql()`select pg_current_xact_id_if_assigned() as own, (select count(*) from audit_logs) as logs`,
  ).toEqual(before)
  await sql()`update instance set backup_failed_at = now()`
  expect((await operate({ ...env, BACKUP_DIR: backups }, 'doctor')).code).toBe(1)
  await sql()`update instance set backup_failed_at = null`
}, 60_000)

test('without a database the code is 78, and no database is created', async () => {
  const place = join(backups, 'nothing')
  const { code } = await operate({ DATA_DIR: place }, 'doctor')
  expect({ code, made: existsSync(place) }).toEqual({ code: 78, made: false })
})

test('a hundred thousand tokens are counted', async () => {
  await registerPerson(app, 'many')
  await sql()`
    insert into tokens (id, workspace_id, kind, label, capabilities, verifier, public_key, expires_at)
    select gen_random_uuid(), ${workspaceId}, 'workload', ${CONTROL}, '["read"]'::jsonb, '\\x00'::bytea, '\\x00'::bytea,
      now() + interval '90 days' from generate_series(1, 100000)`
  const found = (await look()).find(({ check }) => check === 'unsigned_rows')
  expect(found?.said).toContain('100000 tokens')
}, 180_000)
