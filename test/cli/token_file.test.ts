// tier: quick
/** SERVICE_TOKEN_FILE: a token in the form in which Docker, Kubernetes and systemd provide secrets. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scriptOf } from '../docs/blocks.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { openAccount, openTerminal, type Terminal } from './person.ts'

const VALUE = marked('sk_live_token_file')
const NONSENSE = 'svc_wkl_what_is_in_the_file'

let app: TestApp
let ada: Terminal
/** A machine without a session. */
let runner: Terminal
let agent: string
let reading: string

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@token-file.example')
  runner = await openTerminal(app)
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `STRIPE_KEY=${VALUE}`, 'MODE=live', '--sensitive')
  agent = (await ada.must('agent', 'create', 'bot', '-q')).trim()
  reading = (await ada.must('workload-token', 'issue', 'ci', '--may', 'use,read', '-q')).trim()
})
afterAll(() => {
  ada.remove()
  runner.remove()
})

function put(text: string | Uint8Array, mode = 0o600): string {
  const path = join(runner.cwd, 'token')
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

const withFile = (path: string, args: readonly string[], env: Record<string, string> = {}) =>
  runner.run(args, { env: { SERVICE_TOKEN_FILE: path, ...env } })
const RUN = ['run', '--no-mask', '--', 'sh', '-c', 'echo "$MODE"; env | grep -c TOKEN']

describe('the token file', () => {
  test.each(['', '\n', '\r\n'])('the token is read from a file that ends with %j', async (end) => {
    const ran = await withFile(put(reading + end), RUN)
    expect(ran).toEqual({ code: 1, out: 'live\n0\n', err: '' })
  })

  test('the command of docs/guides/containers.md passes no variable with it', async () => {
    runner.write('server', '#!/bin/sh\necho "$MODE $(env | grep -c TOKEN)" >started\n')
    chmodSync(join(runner.cwd, 'server'), 0o755)
    const line = scriptOf('docs/guides/containers.md', 'token')
    const ran = await runner.shell(line.replace('/run/secrets/service_token', put(reading)))
    expect(ran).toEqual({ code: 0, out: '', err: '' })
    expect(readFileSync(join(runner.cwd, 'started'), 'utf8')).toBe('live 0\n')
  })

  test('the token is read from behind links, the way a kubelet creates them', async () => {
    const folder = join(runner.cwd, 'mounted')
    mkdirSync(join(folder, '..2026_01_01'), { recursive: true })
    writeFileSync(join(folder, '..2026_01_01', 'token'), reading, { mode: 0o440 })
    symlinkSync('..2026_01_01', join(folder, '..data'))
    symlinkSync('..data/token', join(folder, 'token'))
    const { code, out } = await withFile(join(folder, 'token'), ['secrets', 'get', 'MODE'])
    expect([code, out]).toEqual([0, 'live'])
  })

  test('whoami, call, proxy and mcp read the token from the file', async () => {
    const path = put(`${agent}\n`)
    const whoami = await withFile(path, ['whoami', '--json'])
    expect(JSON.parse(whoami.out)).toMatchObject({ kind: 'agent', name: 'bot' })
    const called = await withFile(path, ['call', 'https://api.example.com/'])
    expect([called.code, called.err]).toEqual([5, expect.stringContaining('domain_blocked')])
    const child = ['--', 'sh', '-c', 'env | grep -c TOKEN']
    // With a token the proxy uses the resolver. Without one this machine has no session for it.
    expect(await withFile(path, ['proxy', ...child])).toMatchObject({ code: 1, out: '0\n' })
    const line = { jsonrpc: '2.0', id: 1, method: 'ping' }
    const env = { SERVICE_TOKEN_FILE: path }
    // It answers after its input has ended, like a process that is still working.
    const served = await runner.spawn(['mcp'], { env, stdin: `${JSON.stringify(line)}\n` })
    expect(JSON.parse(served.out)).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  })

  test('the token file has a second variable name; an empty variable counts as unset', async () => {
    const env = { SERVICE_TOKEN_FILE: '', CLOAKROOM_TOKEN_FILE: put(reading), SERVICE_TOKEN: '' }
    expect(await runner.run(RUN, { env })).toEqual({ code: 1, out: 'live\n0\n', err: '' })
  })

  test('a token file that every user can read causes a warning', async () => {
    const path = put(reading, 0o604)
    const warning = `SERVICE_TOKEN_FILE: every user of this machine can read ${path} (chmod o-r)\n`
    expect(await withFile(path, RUN)).toEqual({ code: 1, out: 'live\n0\n', err: warning })
  })
})

describe('an invalid token file is one line of error without its content, and no command is run', () => {
  const example = ' (example: /run/secrets/service_token)'
  const refused = async (path: string, reason: string, env: Record<string, string> = {}) => {
    for (const args of [
      ['run', '--', 'echo', 'started'],
      ['call', 'https://api.example.com/'],
      ['proxy', '--', 'echo', 'started'],
      ['mcp'],
      ['secrets', 'list'],
      ['whoami'],
    ]) {
      const { code, out, err } = await withFile(path, args, env)
      const said = err.replace(/\n→[^\n]*/, '')
      expect([args, code, out, said]).toEqual([
        args,
        2,
        '',
        `cloakroom: SERVICE_TOKEN_FILE: ${reason}${example} (usage)\n`,
      ])
    }
  }

  test('a token and a token file together are rejected', async () => {
    const reason = 'must not be set together with SERVICE_TOKEN: unset one of them'
    await refused(put(NONSENSE), reason, { SERVICE_TOKEN: reading })
  })

  test('a missing token file is rejected', async () => {
    const path = join(runner.cwd, 'missing')
    await refused(path, `${path} cannot be read (ENOENT)`)
  })

  test('an empty token file is rejected', async () => {
    const path = put('\n')
    await refused(path, `${path} must not be empty`)
  })

  test('a token file of more than 65,536 bytes is rejected', async () => {
    const path = put(NONSENSE.repeat(4000))
    await refused(path, `${path} must have at most 65536 bytes`)
  })

  test('a folder as token file is rejected', async () => {
    await refused(runner.cwd, `${runner.cwd} must be a regular file`)
  })

  test('a token file that every user can write is rejected', async () => {
    const path = put(NONSENSE, 0o602)
    await refused(path, `${path} can be written by every user: chmod o-w ${path}`)
  })

  test('a token file with other content is rejected, and its content is not printed', async () => {
    for (const text of [NONSENSE, `${NONSENSE}\nsecond line`, ` ${NONSENSE}`, `${NONSENSE}\0`])
      for (const args of [
        ['run', '--', 'echo', 'started'],
        ['call', 'https://api.example.com/'],
      ]) {
        const { code, out, err } = await withFile(put(text), args)
        expect([text, args, code === 0, out]).toEqual([text, args, false, ''])
        expect(err).not.toContain('what_is_in')
      }
  })
})

test('--token takes precedence over the token file, which is then not read', async () => {
  const { code, out } = await withFile('/nowhere/token', [
    'secrets',
    'get',
    'MODE',
    '--token',
    reading,
  ])
  expect([code, out]).toEqual([0, 'live'])
})

test('a command that needs no token does not read the file, and one that needs a session reports it', async () => {
  expect((await withFile('/nowhere/token', ['config'])).code).toBe(0)
  const { code, err } = await withFile(put(reading), ['secrets', 'set', 'A=b'])
  expect([code, err]).toEqual([
    3,
    expect.stringContaining('this command needs a session: SERVICE_TOKEN_FILE is not enough'),
  ])
})
