/** docs/point-in-time.md: its commands as they stand there bring a database of PostgreSQL back to a moment. */
import { afterAll, expect, test } from 'bun:test'
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deleteSecret, listSecrets, upsertSecrets } from '../../src/features/secrets/contract.ts'
import { startTestApp } from '../support/app.ts'
import { findPostgres, unprivileged } from '../support/postgres.ts'
import { databaseVariables } from '../support/prepared.ts'
import { openProject } from '../support/project.ts'
import { watched } from '../support/watched.ts'

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

const text = readFileSync(join(import.meta.dir, '../../docs/point-in-time.md'), 'utf8')
const examples = [...text.matchAll(/^```(\w+) (\w+)\n([\s\S]*?)^```$/gm)]

/** The example of a name, with the places of this test for those of the page. */
function example(name: string): string {
  const found = examples.find(([, , each]) => each === name)?.[3]
  if (found === undefined) throw new Error(`the page has no example ${name}`)
  return found
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

test('a secret that was deleted is there at the moment before, and so is a session that was ended', async () => {
  await shell('initdb -D before -U cloakroom -A trust -E UTF8 --no-locale && mkdir archive')
  writeFileSync(join(home, 'before/postgresql.auto.conf'), example('archive'))
  await startCluster('before')
  await shell('createdb cloakroom')
  const database = { env: databaseVariables(home, 'cloakroom'), remove: () => {} }
  const app = await startTestApp({}, { database })
  const { owner: person, projectId, seal } = await openProject(app)
  const value = seal('STRIPE_KEY', 'sk_live_pitr_1')
  const secrets = [{ key: 'STRIPE_KEY', value, policy: null }]
  await shell(example('base'))
  await person.api.call(upsertSecrets, { body: { project_id: projectId, secrets } })
  const moment = await shell('psql -d cloakroom -Atc "select now()"')
  await shell('psql -d cloakroom -Atc "select pg_sleep(0.1)"')
  await person.api.call(deleteSecret, {
    params: { project_id: projectId, key: 'STRIPE_KEY' },
    query: { environment: 'development' },
    body: {},
  })
  // Ends the session, as a log-out does.
  await app.connection.sql`update sessions set revoked_at = now()`
  await app.stop()
  await shell(example('now'))
  await shell('pg_ctl -D before -m fast -w stop >/dev/null')
  await shell(example('recover').replace('2026-11-23 02:00:00+00', moment))
  await startCluster('after')
  while ((await shell('psql -d cloakroom -Atc "select pg_is_in_recovery()"')) !== 'f')
    await Bun.sleep(50)
  const back = await startTestApp({}, { database })
  const list = await back.as(person.token).call(listSecrets, {
    params: { project_id: projectId },
    query: { environment: 'development', include: 'value' },
  })
  expect(list).toMatchObject([{ key: 'STRIPE_KEY', value }])
  await back.stop()
}, 120_000)
