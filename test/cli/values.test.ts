// tier: all
/** Reading several values or an old one, and previewing a push. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sharedApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { openAccount, type Terminal } from './person.ts'

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@values.example')
  await ada.must('init', 'payments')
})
afterAll(() => {
  ada.remove()
})

test('get prints several values as dotenv, each once, or all of them as JSON', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `MANY_${index + 10}`)
  await ada.must('secrets', 'set', 'B=two words', 'A=1', ...names.map((name) => `${name}=x`))
  expect(await ada.must('secrets', 'get', 'B', 'A', 'B')).toBe("A=1\nB='two words'\n")
  expect(await ada.json('secrets', 'get', 'B', 'A')).toEqual([
    { key: 'B', value: 'two words', version: 1, environment: 'development' },
    { key: 'A', value: '1', version: 1, environment: 'development' },
  ])
  expect((await ada.must('secrets', 'get', ...names)).split('\n')).toHaveLength(13)
})

test('get prints no value if one name is missing', async () => {
  const { code, out, err } = await ada.run(['secrets', 'get', 'A', 'MANY_1'])
  expect([code, out, err]).toEqual([
    4,
    '',
    expect.stringContaining('there is no secret MANY_1 in payments/development'),
  ])
})

test('get prints an earlier version, which history names', async () => {
  const at = ['-e', 'staging']
  const policy = '{"allowed_methods":["GET"]}'
  await ada.must('secrets', 'set', marked('KEY=first_'), '--policy', policy, ...at)
  await ada.must('secrets', 'set', marked('KEY=second_'), '--policy', 'null', ...at)
  expect(await ada.reveal('secrets', 'get', 'KEY', '--version', '1', ...at)).toBe(marked('first_'))
  expect(await ada.reveal('secrets', 'get', 'KEY', '--version', '2', ...at)).toBe(marked('second_'))
  const missing = await ada.run(['secrets', 'get', 'KEY', '--version', '3', ...at])
  expect([missing.code, missing.err]).toEqual([
    4,
    'cloakroom: KEY has no version 3 (not_found)\n→ list them with: cloakroom secrets history KEY\n',
  ])
  const several = await ada.run(['secrets', 'get', 'KEY', 'A', '--version', '1', ...at])
  expect([several.code, several.err]).toEqual([2, expect.stringContaining('a single secret')])
})

test('a token gets several values too', async () => {
  const issued = (await ada.json('workload-token', 'issue', 'ci')) as { token: string }
  const env = { SERVICE_TOKEN: issued.token }
  expect((await ada.run(['secrets', 'get', 'A', 'B'], { env })).out).toBe("A=1\nB='two words'\n")
  const missing = await ada.run(['secrets', 'get', 'A', 'NO_SUCH'], { env })
  expect([missing.code, missing.out]).toEqual([4, ''])
})

test('push --dry-run names the changes, prints no value, and changes nothing', async () => {
  const at = ['-e', 'dry']
  await ada.must('secrets', 'set', 'SAME=1', marked('OLD_KEY=old_'), 'GONE_KEY=x', ...at)
  const before = await ada.json('secrets', 'list', ...at)
  ada.write('dry.env', `SAME=1\nOLD_KEY=${marked('new_')}\nNEW_KEY=${marked('new_')}\n`)
  expect(await ada.must('secrets', 'push', 'dry.env', '--dry-run', ...at)).toBe(
    [
      'KEY       CHANGE',
      'SAME      same',
      'OLD_KEY   value',
      'NEW_KEY   new',
      'GONE_KEY  kept: not in the file',
      '',
    ].join('\n'),
  )
  expect(await ada.json('secrets', 'push', 'dry.env', '--dry-run', '--prune', ...at)).toEqual({
    added: ['NEW_KEY'],
    changed: ['OLD_KEY'],
    same: ['SAME'],
    removed: ['GONE_KEY'],
    not_in_file: [],
  })
  expect(await ada.json('secrets', 'list', ...at)).toEqual(before)
})

test('push --prune deletes secrets that the file does not contain, after a question; push alone keeps them', async () => {
  const at = ['-e', 'dry']
  const names = async () =>
    ((await ada.json('secrets', 'list', ...at)) as { key: string }[]).map(({ key }) => key)
  await ada.must('secrets', 'push', 'dry.env', ...at)
  expect(await names()).toEqual(['GONE_KEY', 'NEW_KEY', 'OLD_KEY', 'SAME'])
  ada.write('dry.env', 'SAME=1\nNEW_KEY=another one\n')
  const asked = await ada.run(['secrets', 'push', 'dry.env', '--prune', ...at])
  expect([asked.code, asked.err]).toEqual([2, expect.stringContaining('--yes')])
  expect(await names()).toHaveLength(4)
  expect(await ada.reveal('secrets', 'get', 'NEW_KEY', ...at)).toBe(marked('new_'))
  expect(await ada.json('secrets', 'push', 'dry.env', '--prune', '--yes', ...at)).toEqual({
    created: 0,
    updated: 1,
    deleted: 2,
  })
  expect(await names()).toEqual(['NEW_KEY', 'SAME'])
})
