// tier: all
/** `cloakroom move` to a PostgreSQL that rejects the connection: the reason, and how to fix it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { readConfig } from '../../../src/core/config/config.ts'
import { openLog } from '../../../src/core/log.ts'
import { openDatabase } from '../../../src/database/open.ts'
import { prepareDatabase } from '../../../src/database/prepare.ts'
import { marked } from '../../support/canary.ts'
import { KEYS, operate, scratch } from './support.ts'

const files = scratch()
const data = { DATA_DIR: files.at('data'), LOG_LEVEL: 'error' }
beforeAll(async () => {
  const config = readConfig({ ...KEYS, ...data }, () => KEYS)
  const connection = await openDatabase(config, () => {})
  await prepareDatabase(connection, config, openLog('error'))
  await connection.close()
}, 60_000)
afterAll(() => files.remove())

/** Answers each client's first message with an error and ends. */
async function refusing(code: string, act: (address: string) => Promise<void>): Promise<void> {
  const fields = `SFATAL\0VFATAL\0C${code}\0Mrefused\0\0`
  const message = Buffer.alloc(5 + fields.length)
  message.write('E')
  message.writeUInt32BE(4 + fields.length, 1)
  message.write(fields, 5)
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: (socket) => void socket.end(message) },
  })
  try {
    await act(`127.0.0.1:${server.port}/vault?sslmode=disable`)
  } finally {
    server.stop(true)
  }
}

const move = (env: Record<string, string>, to: string) =>
  operate({ ...data, ...env }, 'move', '--dry-run', '--to', to)

test(
  'a missing password is requested, with the ways to pass it',
  () =>
    refusing('28P01', async (address) => {
      expect(await move({}, `postgres://ada@${address}`)).toEqual({
        code: 2,
        out: '',
        err: 'cloakroom: PostgreSQL requires a password for ada: set PGPASSWORD, or PGPASSWORD_FILE to the path of a file with it (usage)\n',
      })
    }),
  60_000,
)

test(
  'a wrong password, from the environment or a file, is reported as such',
  () =>
    refusing('28P01', async (address) => {
      const password = marked('database_password_1')
      const path = files.at('password')
      writeFileSync(path, `${password}\n`, { mode: 0o600 })
      for (const env of [{ PGPASSWORD: password }, { PGPASSWORD_FILE: path }])
        expect(await move(env, `postgres://ada@${address}`)).toMatchObject({
          code: 1,
          err: expect.stringContaining('PostgreSQL rejected the user ada or the password'),
        })
    }),
  60_000,
)

test('a missing file, user or database is named', async () => {
  await refusing('28000', async (address) => {
    const PGPASSWORD_FILE = files.at('nothing')
    const lost = await move({ PGPASSWORD_FILE }, `postgres://ada@${address}`)
    expect(lost).toMatchObject({ code: 78, err: expect.stringContaining(PGPASSWORD_FILE) })
    expect(await move({}, `postgres://${address}`)).toMatchObject({
      code: 2,
      err: expect.stringContaining('has no user'),
    })
  })
  await refusing('3D000', async (address) => {
    expect(await move({}, `postgres://ada@${address}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('the target has no database vault: create it first'),
    })
  })
}, 60_000)

test('a % that represents itself has to be written as %25', async () => {
  const at = '127.0.0.1:1/vault'
  for (const address of [`ada:100%@${at}`, `100%@${at}`, `ada@127.0.0.1:1/100%`])
    expect(await move({}, `postgres://${address}`)).toEqual({
      code: 2,
      out: '',
      err: 'cloakroom: write a literal % in the target as %25 (usage)\n',
    })
}, 60_000)
