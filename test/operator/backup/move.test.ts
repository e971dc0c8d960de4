// tier: all
/** `cloakroom move` from PostgreSQL into a directory and back: every table has the same sums at the end. */
import { expect } from 'bun:test'
import { existsSync } from 'node:fs'
import { upsertSecrets } from '../../../src/features/secrets/contract.ts'
import { startTestApp } from '../../support/app.ts'
import { marked } from '../../support/canary.ts'
import { preparedDatabase, sharedCluster } from '../../support/database.ts'
import { databaseVariables } from '../../support/prepared.ts'
import { openProject } from '../../support/project.ts'
import { requires } from '../../support/requires.ts'
import { operate, scratch } from './support.ts'

{
  const { afterAll, beforeAll, test } = requires('postgresql')
  const files = scratch()
  const directory = { DATA_DIR: files.at('data') }
  let source: Record<string, string>

  const sumsIn = async (env: Record<string, string>, name: string): Promise<unknown> => {
    const { code, out, err } = await operate(env, 'backup', files.at(name), '--json')
    expect({ code, err }).toMatchObject({ code: 0 })
    return (JSON.parse(out) as { tables: unknown }).tables
  }
  const newTarget = async () => {
    const { socketDir, createDatabase } = await sharedCluster()
    const name = await createDatabase()
    const url = `postgres://cloakroom@localhost/${name}?host=${encodeURIComponent(socketDir)}&sslmode=disable`
    return { url, env: databaseVariables(socketDir, name) }
  }

  beforeAll(async () => {
    const database = await preparedDatabase()
    source = database.env
    const app = await startTestApp({}, { database })
    const team = await openProject(app)
    const value = team.seal('STRIPE_KEY', marked('sk_live_move_1'))
    await team.owner.api.call(upsertSecrets, {
      body: { project_id: team.projectId, secrets: [{ key: 'STRIPE_KEY', value, policy: null }] },
    })
    const refused = await operate(source, 'move', '--to', directory.DATA_DIR)
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining('Stop the server first'),
    })
    expect(existsSync(directory.DATA_DIR)).toBeFalse()
    await app.stop()
  }, 60_000)
  afterAll(() => files.remove())

  test('a move there and back, each after a dry run, loses and changes nothing', async () => {
    const before = await sumsIn(source, 'before')
    expect(await operate(source, 'move', '--dry-run', '--to', directory.DATA_DIR)).toMatchObject({
      code: 0,
      out: expect.stringContaining('would move'),
    })
    expect(existsSync(directory.DATA_DIR)).toBeFalse()
    expect(await operate(source, 'move', '--to', directory.DATA_DIR)).toMatchObject({ code: 0 })
    expect(await sumsIn(directory, 'inside')).toEqual(before)
    const { url, env } = await newTarget()
    expect(await operate(directory, 'move', '--dry-run', '--to', url)).toMatchObject({ code: 0 })
    expect(await operate(directory, 'move', '--to', url)).toMatchObject({ code: 0 })
    expect(await sumsIn(env, 'back')).toEqual(before)
    expect(await sumsIn(source, 'after')).toEqual(before)
  }, 60_000)

  test('a target with rows is rejected, and stays unchanged', async () => {
    const { url, env } = await newTarget()
    expect(await operate(source, 'move', '--to', url)).toMatchObject({ code: 0 })
    const there = await sumsIn(env, 'there')
    for (const more of [[], ['--dry-run']])
      expect(await operate(source, 'move', '--to', url, ...more)).toMatchObject({
        code: 1,
        err: expect.stringContaining('is not empty'),
      })
    expect(await sumsIn(env, 'still')).toEqual(there)
    expect(await operate(source, 'move', '--to', 'mysql://somewhere/x')).toMatchObject({ code: 2 })
  }, 60_000)
}
