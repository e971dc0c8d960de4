// tier: all
/** Rotates ENCRYPTION_KEY with the commands of docs/guides/server-keys.md. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { getSecret, upsertSecrets } from '../../src/features/secrets/contract.ts'
import { operate } from '../operator/backup/support.ts'
import { environmentOf, NEW, OLD } from '../operator/rekey_outer/support.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { preparedDatabase, type TestDatabase } from '../support/database.ts'
import { openProject, type ProjectTeam } from '../support/project.ts'
import { linesOf, scriptOf, settingsIn } from './blocks.ts'

const commands = linesOf('docs/guides/server-keys.md', 'rotate').map(
  (line) => line.split('#')[0]?.trim().split(' ').slice(1) ?? [],
)

let database: TestDatabase
let project: ProjectTeam
let app: TestApp

const start = (ENCRYPTION_KEY: string) => startTestApp({ ENCRYPTION_KEY }, { database })

beforeAll(async () => {
  database = await preparedDatabase()
  app = await start(OLD)
  project = await openProject(app)
  const secrets = [{ key: 'A', value: project.seal('A', marked('sk_live_rotated')), policy: null }]
  await project.owner.api.call(upsertSecrets, { body: { project_id: project.projectId, secrets } })
  await app.stop()
}, 60_000)
afterAll(() => database.remove())

test('the commands of the page move a server to another ENCRYPTION_KEY, and the old key can be removed', async () => {
  expect(commands.map(([name]) => name)).toEqual(['rekey-outer', 'rekey-outer'])
  const first = settingsIn(scriptOf('docs/guides/server-keys.md', 'outer')).ENCRYPTION_KEY ?? ''
  const both = first.replace('new', NEW).replace('old', OLD)
  app = await start(`${OLD},${NEW}`)
  await app.stop()
  app = await start(both)
  for (const args of commands) {
    const { code, err } = await operate(environmentOf(app), ...args)
    expect({ code, err }).toMatchObject({ code: 0 })
  }
  await app.stop()
  app = await start(NEW)
  try {
    const params = { project_id: project.projectId, key: 'A' }
    const call = app
      .as(project.owner.token)
      .call(getSecret, { params, query: { environment: 'development' } })
    expect(await call).toMatchObject({ key: 'A', version: 1 })
  } finally {
    await app.stop()
  }
}, 60_000)

test('a start with a key that opens nothing is refused', async () => {
  await expect(start(Buffer.alloc(32, 99).toString('base64url'))).rejects.toThrow('ENCRYPTION_KEY')
})
