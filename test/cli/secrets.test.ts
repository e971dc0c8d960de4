// tier: quick
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startTestApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { openAccount, type Terminal } from './person.ts'

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await startTestApp()
  ada = await openAccount(app, 'ada@example.com')
  await ada.must('init', 'payments')
})
afterAll(async () => {
  ada.remove()
  await app.stop()
})

test('init writes a project file with names and an address only', () => {
  const file = JSON.parse(readFileSync(join(ada.cwd, '.cloakroom.json'), 'utf8'))
  expect(file).toEqual({
    server: app.controlPlane,
    workspace: expect.any(String),
    project: 'payments',
    environment: 'development',
  })
})

test('set, get, list, history, rollback and delete change and print a secret', async () => {
  expect(await ada.json('secrets', 'set', marked('STRIPE_KEY=sk_live_1_'), 'MODE=live it')).toEqual(
    {
      created: 2,
      updated: 0,
    },
  )
  expect(await ada.reveal('secrets', 'get', 'STRIPE_KEY')).toBe(marked('sk_live_1_'))
  expect(await ada.json('secrets', 'set', marked('STRIPE_KEY=sk_live_2_'))).toEqual({
    created: 0,
    updated: 1,
  })
  const listed = (await ada.json('secrets', 'list')) as { key: string; version: number }[]
  expect(listed.map(({ key, version }) => [key, version])).toEqual([
    ['MODE', 1],
    ['STRIPE_KEY', 2],
  ])
  expect(await ada.json('secrets', 'history', 'STRIPE_KEY')).toEqual([
    expect.objectContaining({ version: 2, created_by_email: 'ada@example.com' }),
    expect.objectContaining({ version: 1 }),
  ])
  await ada.must('secrets', 'rollback', 'STRIPE_KEY', '1')
  expect(await ada.reveal('secrets', 'get', 'STRIPE_KEY')).toBe(marked('sk_live_1_'))
  await ada.must('secrets', 'delete', 'MODE', '--yes')
  expect((await ada.run(['secrets', 'get', 'MODE'])).code).toBe(4)
})

test('the value never reaches the database in plain text', async () => {
  const rows = await app.connection.sql`select * from secrets, secret_versions`
  expect(rows.length).toBeGreaterThan(0)
  for (const { value } of rows)
    expect(Buffer.from(value).toString('latin1')).not.toContain('sk_live')
})

test('a value can come from standard input, and keeps every character', async () => {
  const value = marked('päss "word" \\ $HOME `x` €')
  await ada.run(['secrets', 'set', 'ODD', '--stdin'], { stdin: `${value}\n` })
  expect(await ada.reveal('secrets', 'get', 'ODD')).toBe(value)
})

test('a multi-line value is read whole from standard input', async () => {
  const value = marked('-----BEGIN KEY-----\nabc\n-----END KEY-----')
  await ada.run(['secrets', 'set', 'PEM', '--stdin'], { stdin: `${value}\n` })
  expect(await ada.reveal('secrets', 'get', 'PEM')).toBe(value)
})

test('push uploads only changed values and keeps policies', async () => {
  const policy = { allowed_methods: ['GET'] }
  await ada.must(
    'secrets',
    'set',
    'KEPT=1',
    'CHANGED=1',
    '--policy',
    JSON.stringify(policy),
    '-e',
    'push',
  )
  ada.write('push.env', 'KEPT=1\nCHANGED=2\nNEW=third\n')
  expect(await ada.json('secrets', 'push', 'push.env', '-e', 'push')).toEqual({
    created: 1,
    updated: 1,
  })
  const listed = (await ada.json('secrets', 'list', '-e', 'push')) as {
    key: string
    version: number
    policy: unknown
  }[]
  expect(listed.map(({ key, version, policy: kept }) => ({ key, version, policy: kept }))).toEqual([
    { key: 'CHANGED', version: 2, policy },
    { key: 'KEPT', version: 1, policy },
    { key: 'NEW', version: 1, policy: null },
  ])
  expect(await ada.must('secrets', 'get', 'CHANGED', '-e', 'push')).toBe('2')
})

test('set keeps the policy without --policy, and removes it with --policy null', async () => {
  const at = ['-e', 'policies']
  const policy = { allowed_methods: ['GET'], description: 'for reading' }
  const kept = async () => {
    const [listed] = (await ada.json('secrets', 'list', ...at)) as { policy: unknown }[]
    return listed?.policy
  }
  await ada.must('secrets', 'set', 'KEY=one', '--policy', JSON.stringify(policy), ...at)
  await ada.must('secrets', 'set', 'KEY=two', 'OTHER=1', ...at)
  expect(await kept()).toEqual(policy)
  expect(await ada.must('secrets', 'get', 'KEY', ...at)).toBe('two')
  await ada.must('secrets', 'set', 'KEY=three', '--policy', 'null', ...at)
  expect(await kept()).toBeNull()
  const asked = await ada.run(['secrets', 'rollback', 'KEY', '2', ...at])
  expect([asked.code, asked.err]).toEqual([
    2,
    'cloakroom: the question needs a terminal (terminal_required)\n→ confirm with --yes\n',
  ])
  expect(await kept()).toBeNull()
  await ada.must('secrets', 'rollback', 'KEY', '2', '--yes', ...at)
  expect(await kept()).toEqual(policy)
  await ada.must('secrets', 'rollback', 'KEY', '1', ...at)
  expect(await ada.must('secrets', 'get', 'KEY', ...at)).toBe('one')
})

test('set does not create an environment with a name similar to another, and reports one that it creates', async () => {
  ada.write('near.env', 'A=one\n')
  await ada.must('secrets', 'set', 'NEAR=one')
  for (const [typed, meant] of [
    ['prodution', 'production'],
    ['prod', 'production'],
    ['devlopment', 'development'],
  ] as const)
    for (const args of [
      ['set', 'A=one', '-e', typed],
      ['push', 'near.env', '-e', typed],
      ['copy', 'NEAR', '--to', typed],
    ])
      expect(await ada.run(['secrets', ...args])).toEqual({
        code: 4,
        out: '',
        err: `cloakroom: payments has no environment ${typed}; nothing was stored (not_found)\n→ did you mean ${meant}? If not, run: cloakroom env create ${typed} (or pass --yes)\n`,
      })
  expect(await ada.json('env', 'list')).not.toMatchObject({ environments: { prodution: {} } })
  const first = await ada.run(['secrets', 'set', 'A=one', '-e', 'review'])
  expect(first).toEqual({
    code: 0,
    out: 'payments/review: 1 created, 0 updated.\n',
    err: 'review is a new environment of payments\n',
  })
  const confirmed = await ada.run(['secrets', 'set', 'A=one', '-e', 'prodution', '--yes'])
  expect(confirmed.err).toBe('prodution is a new environment of payments\n')
  for (const args of [
    ['A=two', '-e', 'prodution'],
    ['A=one', '-e', 'staging'],
  ]) {
    expect((await ada.run(['secrets', 'set', ...args])).err).toBe('')
  }
})

test('diff and env list compare environments by name', async () => {
  await ada.must('secrets', 'set', 'A_KEY=1', '-e', 'other')
  expect(await ada.json('secrets', 'diff', 'push', 'other')).toEqual({
    from: 'push',
    to: 'other',
    in_from_only: ['CHANGED', 'KEPT', 'NEW'],
    in_to_only: ['A_KEY'],
    in_both: [],
    same: [],
    different_value: [],
    different_policy: [],
  })
  expect(await ada.json('env', 'list')).toEqual({
    project_id: expect.any(String),
    environments: expect.objectContaining({
      push: { secret_count: 3 },
      production: { secret_count: 0 },
    }),
  })
  await ada.must('env', 'use', 'push')
  expect(await ada.must('secrets', 'get', 'NEW')).toBe('third')
  await ada.must('env', 'use', 'development')
})

test('invalid arguments exit with 2 and print no value', async () => {
  for (const args of [
    ['secrets', 'set'],
    ['secrets', 'set', 'a=1', 'b'],
    ['secrets', 'set', '1A=hunter2'],
    ['secrets', 'set', 'A=hunter2', '--policy', '{'],
    ['secrets', 'set', '--from-file', 'missing.env'],
    ['secrets', 'pull', '--format', 'xml'],
  ]) {
    const { code, out, err } = await ada.run(args)
    expect({ args, code, out }).toEqual({ args, code: 2, out: '' })
    expect(err).not.toContain('hunter2')
  }
})

test('deleting asks for confirmation, and requires --yes without a terminal', async () => {
  const { code, err } = await ada.run(['project', 'delete', 'payments'])
  expect({ code, err }).toEqual({
    code: 2,
    err: 'cloakroom: the question needs a terminal (terminal_required)\n→ confirm with --yes\n',
  })
})

test('projects are created, listed, used and deleted', async () => {
  await ada.must('project', 'create', 'second')
  const listed = (await ada.json('project', 'list')) as { name: string }[]
  expect(listed.map(({ name }) => name).sort()).toEqual(['payments', 'second'])
  await ada.must('project', 'use', 'second')
  await ada.must('secrets', 'set', 'ONLY=here')
  await ada.must('project', 'use', 'payments')
  expect((await ada.run(['secrets', 'get', 'ONLY'])).code).toBe(4)
  await ada.must('project', 'delete', 'second', '--yes')
  const restored = await ada.must('project', 'restore', 'second')
  expect(restored).toBe('Restored second; its agents and tokens stay deleted.\n')
  const none = await ada.run(['project', 'restore', 'third'])
  expect([none.code, none.err]).toEqual([
    4,
    'cloakroom: no project third was deleted in the last 7 days (not_found)\n→ list them with: cloakroom audit list --action project.deleted --since 7d\n',
  ])
  await ada.must('project', 'delete', 'second', '--yes')
  expect((await ada.run(['project', 'use', 'second'])).code).toBe(4)
})

test('the audit is filtered by action and by secret', async () => {
  await ada.must('secrets', 'set', 'READ_ONCE=1')
  await ada.must('secrets', 'get', 'READ_ONCE')
  const named = async (...filters: string[]) =>
    (
      (await ada.json(
        'audit',
        'list',
        '--since',
        '1h',
        '--credential',
        'READ_ONCE',
        ...filters,
      )) as {
        action: string
      }[]
    ).map(({ action }) => action)
  expect(await named()).toEqual(['secret.read', 'secret.created'])
  expect(await named('--action', 'secret.read')).toEqual(['secret.read'])
})
