// tier: quick
/** `inject` fills a template completely or not at all. A stranger's template is tested in test/security. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { sharedApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { openAccount, type RunOptions, type Terminal } from './person.ts'

const KEY = marked('sk_live_inject')
const CERTIFICATE = `-----BEGIN-----\n${marked('pem')}\n{{ API_KEY }} svc://payments/development/API_KEY\n`

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@inject.example')
  await ada.must('init', 'shared')
  await ada.must('secrets', 'set', 'SENTRY_DSN=https://shared', '-p', 'shared', '-e', 'production')
  await ada.must('init', 'payments', '--yes')
  await ada.must('secrets', 'set', `API_KEY=${KEY}`, 'PORT=8080')
  await ada.must('secrets', 'set', 'PORT=443', '-e', 'production')
  await ada.run(['secrets', 'set', 'CERT', '--stdin'], { stdin: `${CERTIFICATE}x` })
  await ada.must('secrets', 'set', 'CALLED_ONLY=x', '--policy', '{"allowed_locations":["header"]}')
})
afterAll(() => {
  ada.remove()
})

const at = (name: string) => join(ada.cwd, name)
const read = (name: string) => readFileSync(at(name), 'utf8')
const inject = (stdin: string, args: string[] = [], options: RunOptions = {}) =>
  ada.run(['inject', ...args], { stdin, reveals: true, ...options })
/** Writes to the file `out`, and prints no value. */
const write = (stdin: string, args: string[] = [], options: RunOptions = {}) =>
  ada.run(['inject', '-o', 'out', ...args], { stdin, ...options })

test('values are inserted unchanged in place of their names, and are not read again', async () => {
  const { code, out, err } = await inject(
    'key={{ API_KEY }}:{{PORT}} {{ "{{ PORT }}" }}\r\n{{ CERT }}',
  )
  expect([code, out, err]).toEqual([
    0,
    `key=${KEY}:8080 {{ PORT }}\r\n${CERTIFICATE}x`,
    'API_KEY, CERT, PORT of payments/development\n',
  ])
})

test('a template without references is written unchanged, without a server', async () => {
  const env = { SERVICE_SERVER_URL: 'http://127.0.0.1:1' }
  expect(await inject('a\n\n${B}', [], { env })).toEqual({
    code: 0,
    out: 'a\n\n${B}',
    err: 'no references\n',
  })
})

test('inject reads the selected environment', async () => {
  expect((await inject('{{ PORT }}', ['-e', 'production'])).out).toBe('443')
})

test('other environments named in a template are read too, by name or ID of the project', async () => {
  const text = 'svc://shared/production/SENTRY_DSN {{ svc://payments/production/PORT }} {{ PORT }}'
  const from = ['--from', 'shared/production', '--from', 'payments/production']
  expect((await inject(text, from)).out).toBe('https://shared 443 8080')
  const projects = (await ada.json('project', 'list')) as { id: string; name: string }[]
  const id = projects.find(({ name }) => name === 'shared')?.id
  const byId = `svc://${id}/production/SENTRY_DSN svc://shared/production/SENTRY_DSN`
  expect((await inject(byId, from)).out).toBe('https://shared https://shared')
  // The own address needs no confirmation, however it is written.
  expect((await inject('svc://payments/development/PORT')).out).toBe('8080')
})

test('all unresolved references are listed together, with similar names, and nothing is written', async () => {
  const text =
    'a {{ API_KEI }}\n{{ PORT }} {{ NOWHERE }}\n  {{ CALLED_ONLY }}{{ svc://paiments/development/QQ }}'
  expect(await write(text)).toEqual({
    code: 4,
    out: '',
    err:
      'cloakroom: 3:20 {{ svc://paiments/development/QQ }} there is no project paiments in Personal (not_found)\n' +
      'nothing was written\n→ see: cloakroom project list\n',
  })
  expect(await write(text.replace('paiments', 'payments'))).toEqual({
    code: 4,
    out: '',
    err:
      'cloakroom: 1:3 {{ API_KEI }} is not available to programs in payments/development; is it API_KEY? (not_found)\n' +
      '2:12 {{ NOWHERE }} is not available to programs in payments/development\n' +
      '3:3 {{ CALLED_ONLY }} is not available to programs in payments/development\n' +
      '3:20 {{ svc://payments/development/QQ }} is not available to programs in payments/development\n' +
      'nothing was written\n→ see: cloakroom secrets list\n',
  })
  const { code, err } = await write('{{ PORT }}{{ PORT | json }}')
  expect([code, err.split('\n')[0]]).toEqual([
    2,
    'cloakroom: 1:11 {{ PORT | json }} is not a reference (invalid_file)',
  ])
  expect(existsSync(at('out'))).toBe(false)
})

test('an error lists twenty of many references', async () => {
  const { err } = await write('{{ NOWHERE }}\n'.repeat(30))
  expect(err.split('\n').length).toBe(24)
  expect(err).toContain('\nand 10 more\n')
})

describe('the file', () => {
  test('only the owner can read the output file, and different content is replaced only with --force', async () => {
    rmSync(at('out'), { force: true })
    ada.write('app.tpl', 'port={{ PORT }}\n')
    const args = ['inject', '-i', 'app.tpl', '-o', 'out']
    expect(await ada.run(args)).toEqual({
      code: 0,
      out: 'out written (readable only by you): PORT of payments/development\n',
      err: '',
    })
    expect([read('out'), statSync(at('out')).mode & 0o777]).toEqual(['port=8080\n', 0o600])
    chmodSync(at('out'), 0o644)
    expect(await ada.json(...args)).toEqual({
      file: 'out',
      changed: false,
      used: [{ environment: 'payments/development', names: ['PORT'] }],
    })
    expect(statSync(at('out')).mode & 0o777).toBe(0o600)
    ada.write('out', 'mine')
    const refused = await ada.run(args)
    expect([refused.code, refused.err, read('out')]).toEqual([
      5,
      expect.stringContaining('out exists with different content; nothing was written'),
      'mine',
    ])
    expect((await ada.run([...args, '--force'])).code).toBe(0)
    expect(read('out')).toBe('port=8080\n')
  })

  test('the output file is never a link or the template itself', async () => {
    ada.write('target', 'mine')
    symlinkSync(at('target'), at('link'))
    const linked = await ada.run(['inject', '-o', 'link', '--force'], { stdin: '{{ PORT }}' })
    expect([linked.code, read('target')]).toEqual([2, 'mine'])
    ada.write('same.tpl', '{{ PORT }}')
    const same = await ada.run(['inject', '-i', 'same.tpl', '-o', './same.tpl', '--force'])
    expect([same.code, read('same.tpl')]).toEqual([2, '{{ PORT }}'])
  })
})

describe('an invalid template', () => {
  test('a template that is not UTF-8 is refused', async () => {
    await Bun.write(at('bytes.tpl'), new Uint8Array([0x7b, 0xff, 0x7d]))
    const { code, err } = await ada.run(['inject', '-i', 'bytes.tpl'])
    expect([code, err]).toEqual([2, 'cloakroom: bytes.tpl is not UTF-8 text (invalid_file)\n'])
  })

  test('a template of more than 4 MiB is refused', async () => {
    const { code, err } = await inject('a'.repeat(4_194_305))
    expect([code, err]).toEqual([
      2,
      'cloakroom: the template exceeds the template limit of 4 MiB (invalid_file)\n',
    ])
    expect((await inject('a'.repeat(4_194_304))).code).toBe(0)
  })

  test('a template whose result exceeds the limit is refused', async () => {
    const value = marked('long'.repeat(10_000))
    await ada.must('secrets', 'set', `LONG=${value}`, '-e', 'long')
    const { code, err } = await write('{{ LONG }}'.repeat(2_000), ['-e', 'long'])
    expect([code, err]).toEqual([2, expect.stringContaining('is too long')])
  })
})

describe('with a token', () => {
  let env: Record<string, string>
  beforeAll(async () => {
    const issued = await ada.json('workload-token', 'issue', 'ci', '-e', 'production')
    env = { SERVICE_TOKEN: (issued as { token: string }).token, HOME: at('nowhere') }
  })

  test("inject with a token reads the token's environment, named or not", async () => {
    // This folder has no project file that names another environment.
    const apart = await inject('{{ PORT }}', [], { env, cwd: ada.home })
    expect([apart.code, apart.out]).toEqual([0, '443'])
    const named = await inject('svc://payments/production/PORT', ['-e', 'production'], { env })
    expect([named.code, named.out]).toEqual([0, '443'])
  })

  test('another environment is rejected by the server, and another project must be an ID', async () => {
    const from = ['--from', 'payments/development']
    const other = await inject('svc://payments/development/PORT', from, { env })
    expect([other.code, other.out]).toEqual([5, ''])
    const shared = await inject('svc://shared/production/SENTRY_DSN', [], { env })
    expect([shared.code, shared.out]).toEqual([4, ''])
    expect(shared.err).toContain('names a project: with a token, use the project ID')
  })

  test('a token that may not read gets nothing', async () => {
    const { token } = (await ada.json('agent', 'create', 'bot')) as { token: string }
    const { code, out } = await inject('{{ PORT }}', [], { env: { SERVICE_TOKEN: token } })
    expect([code, out]).toEqual([5, ''])
  })
})
