// tier: all
/**
 * Guarantees for scripts: JSON output of every command, exit codes, and output that another program reads in part. A
 * closed pipe ends the executable in a shell.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { sharedApp, type TestApp } from '../support/app.ts'
import { openAccount, type Terminal } from './person.ts'

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@scripts.example')
  await ada.must('init', 'payments')
})
afterAll(() => {
  ada.remove()
})

const refused = async (...args: string[]) => {
  const { code, out, err } = await ada.run([...args, '--json'])
  return { code, out, ...JSON.parse(err) }
}

test('an error is one line of JSON on standard error, and standard output stays empty', async () => {
  expect(await refused('project', 'use', 'paymnets')).toEqual({
    code: 4,
    out: '',
    error: {
      code: 'not_found',
      message: expect.stringMatching(/^there is no project paymnets in /),
      hint: 'is it payments?',
    },
  })
  expect(await refused('agent', 'create', 'a'.repeat(300))).toEqual({
    code: 2,
    out: '',
    error: {
      code: 'usage',
      message: expect.stringMatching(/^"a+" cannot be the name of an agent\.$/),
      hint: expect.stringMatching(/^it must .*at most 100/),
    },
  })
})

test('an error of usage is JSON too', async () => {
  for (const [args, message, command] of [
    [['nonsense'], "unknown command 'nonsense'", ''],
    [['secrets', 'lst'], "unknown command 'lst'\n(Did you mean list?)", ' secrets'],
    [['project', 'use'], "missing required argument 'project'", ' project use'],
    [['secrets', 'list', '--nonsense'], "unknown option '--nonsense'", ' secrets list'],
    [['secrets'], 'missing command', ' secrets'],
  ] as const) {
    const error = { code: 'usage', message, hint: `run cloakroom${command} --help` }
    expect({ args, ...(await refused(...args)) }).toEqual({ args, code: 2, out: '', error })
  }
})

test('every command that changes data reports the change, with --json', async () => {
  expect(await ada.json('project', 'create', 'second')).toEqual({
    id: expect.any(String),
    name: 'second',
  })
  expect(await ada.json('secrets', 'set', 'A_KEY=one')).toEqual({ created: 1, updated: 0 })
  expect(await ada.json('secrets', 'delete', 'A_KEY', '--yes')).toEqual({ deleted: ['A_KEY'] })
  expect(await ada.json('allowlist', 'add', 'api.example.com')).toEqual([
    expect.objectContaining({ domain: 'api.example.com' }),
  ])
  expect(await ada.json('allowlist', 'remove', 'api.example.com')).toEqual({
    removed: ['api.example.com'],
  })
  expect(await ada.json('env', 'use', 'development')).toMatchObject({ environment: 'development' })
  expect(await ada.json('project', 'delete', 'second', '--yes')).toMatchObject({
    deleted: 'second',
  })
  expect(await ada.json('project', 'restore', 'second')).toMatchObject({ restored: 'second' })
})

test("--quiet prints a creation's ID, the token itself, or a list's names", async () => {
  expect(await ada.must('project', 'create', 'third', '--quiet')).toMatch(/^[0-9a-f-]{36}\n$/)
  expect(await ada.must('agent', 'create', 'quiet-bot', '-q')).toMatch(/^svc_agt_\S+\n$/)
  await ada.must('secrets', 'set', 'B_KEY=one', 'C_KEY=two')
  expect(await ada.must('secrets', 'list', '-q')).toBe('B_KEY\nC_KEY\n')
  expect(await ada.must('secrets', 'delete', 'B_KEY', '--yes', '-q')).toBe('')
})

test('ls and rm are aliases of list and delete in every group', async () => {
  for (const group of ['workspace', 'project', 'env', 'secrets', 'allowlist', 'agent', 'audit'])
    expect(await ada.must(group, 'ls', '-q')).toBe(await ada.must(group, 'list', '-q'))
  await ada.must('secrets', 'rm', 'C_KEY', '--yes')
  expect(await ada.json('secrets', 'ls')).toEqual([])
  await ada.must('agent', 'rm', 'quiet-bot', '--yes')
  await ada.must('allowlist', 'add', 'api.example.com')
  await ada.must('allowlist', 'rm', 'api.example.com')
})

test('a missing program is exit 127, one that cannot be executed exit 126', async () => {
  ada.write('no-program', 'text')
  ada.write('no-format', 'text')
  chmodSync(join(ada.cwd, 'no-format'), 0o755)
  for (const way of [['run'], ['run', '--no-mask'], ['proxy']]) {
    const ended = async (name: string) => (await ada.run([...way, '--', name])).code
    expect(await ended('no-such-program')).toBe(127)
    expect(await ended('./no-such-program')).toBe(127)
    expect(await ended('./no-program')).toBe(126)
    expect(await ended('./no-format')).toBe(126)
    expect(await ended('true')).toBe(0)
  }
})

test('a reader that closes the pipe ends the command silently, the way the signal would', async () => {
  const env = { HOME: ada.home, SERVICE_SERVER_URL: app.controlPlane }
  await ada.must('secrets', 'set', 'MASKED_KEY=some value')
  const endless = 'set -o pipefail; cloakroom run -- yes | head -n 1; echo $?'
  expect(await ada.shell(endless, env)).toEqual({ code: 0, out: 'y\n141\n', err: '' })
  for (const command of ['secrets list', 'audit export', 'settings --json', 'keygen', '--help']) {
    // The reader closes its end before the command begins.
    const gone = `rm -f go; mkfifo go; { : <go; cloakroom ${command}; echo $? >&2; } | { exec 0<&-; : >go; }`
    expect({ command, ...(await ada.shell(gone, env)) }).toMatchObject({ out: '', err: '141\n' })
  }
})

test('colours are in a pipe only on request', async () => {
  await ada.must('secrets', 'set', 'D_KEY=one')
  const list = (env: Record<string, string>) => ada.run(['secrets', 'list'], { env })
  expect((await list({})).out).not.toContain('\x1b')
  expect((await list({ FORCE_COLOR: '1' })).out).toContain('\x1b[1mKEY')
  expect((await list({ FORCE_COLOR: '1', NO_COLOR: '1' })).out).not.toContain('\x1b')
})
