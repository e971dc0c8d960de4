// tier: all
/** PostgreSQL rejects the connection: each operator's command prints what to check. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { operate, scratch } from '../operator/backup/support.ts'
import { marked } from '../support/canary.ts'
import { errorMessage, type FalsePostgres, falsePostgres } from '../support/false_postgres.ts'

const files = scratch()
let code = ''
let database: FalsePostgres
beforeAll(async () => {
  database = await falsePostgres(async ({ write, socket }) => {
    write(errorMessage({ S: 'FATAL', C: code, M: 'as PostgreSQL says it' }))
    socket.end()
  })
})
afterAll(() => {
  database.close()
  files.remove()
})

const said = async (refusal: string, more: Record<string, string>, ...args: string[]) => {
  code = refusal
  const place = { DB_HOST: '127.0.0.1', DB_PORT: String(database.port), DB_NAME: 'vault' }
  const settings = { DB_SSLMODE: 'disable', DB_USER: 'ada', PORT: '0', RESOLVER_PORT: '0' }
  const ran = await operate({ ...place, ...settings, ...more }, ...args)
  return { code: ran.code, text: ran.out + ran.err }
}

const COMMANDS = [
  ['serve'],
  ['backup', files.at('never')],
  ['move', '--to', files.at('never')],
  ['doctor'],
  ['self-check'],
  ['upgrade', '--check'],
  ['rekey-outer', '--dry-run'],
  ['calculate_metrics'],
]

test.each(COMMANDS)(
  '%s reports what to check after a wrong password',
  async (...args) => {
    const given = { DB_PASSWORD: marked('database-password-') }
    const { code, text } = await said('28P01', given, ...args)
    expect(text).toContain(
      'PostgreSQL rejected the user ada or the password (28P01): check DB_USER and DB_PASSWORD\n',
    )
    expect(text).not.toContain('as PostgreSQL says it')
    expect(code).toBe(args[0] === 'upgrade' ? 2 : 1)
  },
  60_000,
)

test.each<[command: string, ...rest: string[]]>([
  ['backup', files.at('none')],
  ['rekey-outer', '--dry-run'],
  ['calculate_metrics'],
])(
  '%s reports immediately that nothing listens, whatever DB_WAIT_SECONDS is',
  async (command, ...args) => {
    const unreachable = { DB_PORT: '1', DB_WAIT_SECONDS: '3600' }
    const { code: exitCode, text } = await said('', unreachable, command, ...args)
    expect(text).toContain('PostgreSQL could not be reached at 127.0.0.1:1: connection refused')
    expect(exitCode).toBe(1)
  },
  60_000,
)

test('a password that is not set is reported as unset, and a missing database is named', async () => {
  expect((await said('28P01', {}, 'doctor')).text).toEndWith('DB_PASSWORD, which is not set\n')
  expect((await said('28000', {}, 'doctor')).text).toEndWith('not set, and pg_hba.conf\n')
  expect((await said('3D000', {}, 'doctor')).text).toContain(
    'the database vault does not exist (3D000)',
  )
}, 60_000)
