// tier: all
/** Executes the commands of docs/guides/backup.md, "Point-in-time recovery", on a real PostgreSQL. */
import { expect } from 'bun:test'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { logout } from '../../src/features/accounts/contract.ts'
import { deleteSecret, listSecrets } from '../../src/features/secrets/contract.ts'
import { getToken } from '../../src/features/workloads/contract.ts'
import { getWorkspace, removeMember } from '../../src/features/workspaces/contract.ts'
import { scriptOf } from '../docs/blocks.ts'
import { createAgentWithToken } from '../support/agent.ts'
import { startTestApp } from '../support/app.ts'
import { unprivileged } from '../support/postgres.ts'
import { findPostgres } from '../support/postgres_programs.ts'
import { databaseVariables } from '../support/prepared.ts'
import { requires } from '../support/requires.ts'
import { openTeam } from '../support/teams.ts'
import { until } from '../support/until.ts'
import { watched } from '../support/watched.ts'

const { afterAll, test } = requires('postgresql', 'bash')

const MOMENT = '2026-11-23 02:00:00+00'
const home = mkdtempSync(join(tmpdir(), 'cr-pitr-'))
const owner = unprivileged()
if (owner) chownSync(home, owner.uid, owner.gid)
const env = {
  PATH: `${findPostgres()}:${process.env.PATH}`,
  HOME: home,
  PGHOST: home,
  PGUSER: 'cloakroom',
}

afterAll(async () => {
  await shell(`pg_ctl -D after -m immediate stop; pg_ctl -D before -m immediate stop`).catch(
    () => {},
  )
  rmSync(home, { recursive: true, force: true })
})

/** A script of the page, with the paths of this test. */
function placed(script: string): string {
  return script
    .replaceAll('/var/lib/postgresql/archive', join(home, 'archive'))
    .replaceAll('/var/lib/postgresql/base', join(home, 'base'))
    .replaceAll('/var/lib/postgresql/data', join(home, 'after'))
}

async function shell(script: string): Promise<string> {
  const child = watched(
    Bun.spawn(['bash', '-euc', script], {
      env,
      cwd: home,
      stdout: 'pipe',
      stderr: 'pipe',
      ...owner,
    }),
  )
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(`${script}\n${out}${err}`)
  return out.trim()
}

const startCluster = (name: string) =>
  shell(
    `pg_ctl -D ${name} -w -t 60 -l ${name}.log -o "-c listen_addresses= -k ${home}" start >/dev/null`,
  )

test('recovery to a point in time restores a deleted secret, an ended session, a revoked token and a removed member', async () => {
  await shell('initdb -D before -U cloakroom -A trust -E UTF8 --no-locale && mkdir archive')
  writeFileSync(
    join(home, 'before/postgresql.auto.conf'),
    placed(scriptOf('docs/guides/backup.md', 'archive')),
  )
  await startCluster('before')
  await shell('createdb cloakroom')
  const database = { env: databaseVariables(home, 'cloakroom'), remove: () => {} }
  const app = await startTestApp({}, { database })
  await shell(placed(scriptOf('docs/guides/backup.md', 'base')))
  const outside = { app, authorityOf: () => 'api.example:443' }
  const { person, projectId, token, tokenId, revoke } = await createAgentWithToken(outside, {
    secrets: { STRIPE_KEY: 'sk_live_pitr_1' },
  })
  const team = await openTeam(app, person)
  const bob = await team.join('member')
  const params = { workspace_id: team.workspaceId }
  const isMember = async ({ as }: typeof app) =>
    as(bob.token)
      .call(getWorkspace, { params })
      .then(({ rekey_required }) => ({ rekey_required }))
      .catch(({ code }) => code)
  const remove = ({ as }: typeof app) =>
    as(person.token).call(removeMember, { params: { ...params, member: bob.email } })
  expect(await isMember(app)).toEqual({ rekey_required: false })
  const isAccepted = async ({ as }: typeof app) =>
    as(token)
      .call(getToken, {})
      .then(({ token_id }) => token_id === tokenId)
      .catch(() => false)
  const keys = ({ as }: typeof app) =>
    as(person.token)
      .call(listSecrets, {
        params: { project_id: projectId },
        query: { environment: 'development' },
      })
      .then((secrets) => secrets.map(({ key }) => key))
  expect([await isAccepted(app), await keys(app)]).toEqual([true, ['STRIPE_KEY']])
  const moment = await shell('psql -d cloakroom -Atc "select now()"')
  await shell('psql -d cloakroom -Atc "select pg_sleep(0.1)"')
  await person.api.call(deleteSecret, {
    params: { project_id: projectId, key: 'STRIPE_KEY' },
    query: { environment: 'development' },
    body: {},
  })
  await revoke()
  await remove(app)
  expect(await isMember(app)).toBe('not_found')
  await person.api.call(logout, { body: {} })
  expect(await isAccepted(app)).toBe(false)
  expect(keys(app)).rejects.toMatchObject({ code: 'invalid_token' })
  await app.stop()
  await shell(placed(scriptOf('docs/guides/backup.md', 'now')))
  await shell('pg_ctl -D before -m fast -w stop >/dev/null')
  await shell(placed(scriptOf('docs/guides/backup.md', 'recover')).replace(MOMENT, moment))
  await startCluster('after')
  await until(
    async () => (await shell('psql -d cloakroom -Atc "select pg_is_in_recovery()"')) === 'f',
    { stepMs: 50 },
  )
  const back = await startTestApp({}, { database })
  expect([await isAccepted(back), await keys(back)]).toEqual([true, ['STRIPE_KEY']])
  expect(await isMember(back)).toEqual({ rekey_required: false })
  await remove(back)
  expect(await isMember(back)).toBe('not_found')
  await back.stop()
  // The old database lists the objects to revoke again.
  await shell('pg_ctl -D after -m fast -w stop >/dev/null')
  await startCluster('before')
  const old = (script: string) => shell(script.replace(MOMENT, moment).replace(' -p 5433', ''))
  expect(await old(scriptOf('docs/guides/backup.md', 'revoked'))).toContain(tokenId)
  expect(await old(scriptOf('docs/guides/backup.md', 'members'))).toMatch(
    new RegExp(`${team.workspaceId} \\| member.removed +\\| ${bob.email} +\\|`),
  )
}, 120_000)
