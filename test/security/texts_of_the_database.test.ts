// tier: all
/** An attacker with the database chooses names that the operator's programs print: none of them controls a terminal. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readConfig } from '../../src/core/config/config.ts'
import { openLog } from '../../src/core/log.ts'
import { openDatabase } from '../../src/database/open.ts'
import { KEYS, operate } from '../operator/backup/support.ts'
import { preparedDatabase, type TestDatabase } from '../support/database.ts'

/** Controls of both sets, a line of its text, and characters that reverse the order of letters. */
const HOSTILE = '9999_\u001b]0;owned\u0007\u009b2J\u202e\ncloakroom: all is well'

let database: TestDatabase
beforeAll(async () => {
  database = await preparedDatabase()
  const config = readConfig({ ...KEYS, ...database.env }, () => KEYS)
  const { sql, close } = await openDatabase(config, () => {})
  await sql`insert into cloakroom_migrations (name, sha256) values (${HOSTILE}, 'x')`
  await close()
}, 60_000)
afterAll(() => database.remove())

test.each<[code: number, args: string[]]>([
  [78, ['serve']],
  [1, ['self-check']],
  [1, ['self-check', '--json']],
  [2, ['upgrade', '--check']],
  [2, ['upgrade', '--check', '--json']],
  [1, ['backup', 'never']],
  [1, ['backup', 'never', '--json']],
])(
  'the command exits with %i, and prints a line each: %j',
  async (code, args) => {
    const ports = { PORT: '0', RESOLVER_PORT: '0' }
    const ran = await operate({ ...database.env, ...ports }, ...args)
    const text = ran.out + ran.err
    expect(text).toContain('9999_')
    expect({ code: ran.code, unseen: text.match(/[^\P{Cc}\n]|[\p{Bidi_Control}]/gu) }).toEqual({
      code,
      unseen: null,
    })
    expect(text).not.toMatch(/^cloakroom: all is well/m)
  },
  60_000,
)

test('a log line contains them in the escapes of JSON', () => {
  const lines: string[] = []
  openLog('error', (line) => lines.push(line)).error('failed', { name: HOSTILE })
  expect(lines.join('')).not.toMatch(/[^\P{Cc}\n]|[\p{Bidi_Control}]/u)
  expect(JSON.parse(lines.join(''))).toMatchObject({ name: HOSTILE })
})
