// tier: all
/**
 * Personal values (`secrets set --mine`) replace stored ones, on this machine and for this account.
 * The file on disk is encrypted, opens only for its account, and no server receives a personal value.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references look like placeholders of templates
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sharedApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { openAccount, openTerminal, PASSWORD, type Terminal } from './person.ts'
import { openSwitch } from './running/switched_server.ts'

const TEAM = marked('team-value')
const OWN = marked('own-value')
const SAID = 'your own values are used in payments/development: KEY (omit them with --no-mine)\n'

let app: TestApp
let ada: Terminal
let token: string

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@own-values.example')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `KEY=${TEAM}`, 'HOST=db.internal')
  await ada.must('secrets', 'set', 'URL=at:${KEY}', '--references')
  await ada.must('secrets', 'set', `KEY=${OWN}`, '--mine')
  token = ((await ada.json('workload-token', 'issue', 'ci')) as { token: string }).token
})
afterAll(() => {
  ada.remove()
})

const configOf = (terminal: Terminal) => join(terminal.home, '.config', 'cloakroom')
const FILE = 'own-values-session.json'
const pathOf = (terminal: Terminal) => join(configOf(terminal), FILE)
const reveal = (...args: string[]) => ada.run(args, { reveals: true })
const PRINT = ['--no-mask', '--', 'sh', '-c', 'printf "$KEY|$URL"']

describe('the use of personal values', () => {
  test('run, inject and get use personal values, also through references, and name them', async () => {
    expect(await reveal('run', ...PRINT)).toEqual({ code: 0, out: `${OWN}|at:${OWN}`, err: SAID })
    ada.write('a.tpl', '{{ KEY }} {{ URL }}')
    const injected = await reveal('inject', '-i', 'a.tpl')
    expect([injected.out, injected.err.includes(SAID)]).toEqual([`${OWN} at:${OWN}`, true])
    expect(await reveal('secrets', 'get', 'KEY')).toEqual({ code: 0, out: OWN, err: SAID })
    expect(await reveal('secrets', 'get', 'URL')).toEqual({ code: 0, out: `at:${OWN}`, err: SAID })
    expect(await reveal('secrets', 'get', 'HOST')).toEqual({ code: 0, out: 'db.internal', err: '' })
  })

  test('personal values are not used with --no-mine or for earlier versions', async () => {
    const whole = { code: 0, out: `${TEAM}|at:${TEAM}`, err: '' }
    expect(await reveal('run', '--no-mine', ...PRINT)).toEqual(whole)
    const injected = await reveal('inject', '-i', 'a.tpl', '--no-mine')
    expect([injected.out, injected.err.includes('your own')]).toEqual([`${TEAM} at:${TEAM}`, false])
    for (const args of [['--no-mine'], ['--version', '1']]) {
      const got = await reveal('secrets', 'get', 'KEY', ...args)
      expect(got).toEqual({ code: 0, out: TEAM, err: '' })
    }
  })

  test('a personal value is used only in its environment and project', async () => {
    await ada.must('secrets', 'set', `KEY=${TEAM}`, '-e', 'staging')
    expect(await reveal('secrets', 'get', 'KEY', '-e', 'staging')).toMatchObject({
      out: TEAM,
      err: '',
    })
    await ada.must('project', 'create', 'other')
    await ada.must('secrets', 'set', `KEY=${TEAM}`, '-p', 'other')
    expect(await reveal('secrets', 'get', 'KEY', '-p', 'other')).toMatchObject({
      out: TEAM,
      err: '',
    })
  })

  test('a personal value is masked like a secret', async () => {
    const { out } = await ada.run(['run', '--', 'sh', '-c', 'echo "$KEY"'])
    expect(out).toBe('[REDACTED]\n')
  })

  test('commands with a token do not read the file of personal values', async () => {
    const sound = readFileSync(pathOf(ada), 'utf8')
    writeFileSync(pathOf(ada), 'not to be read')
    const options = { env: { SERVICE_TOKEN: token }, reveals: true }
    const whole = { code: 0, out: `${TEAM}|at:${TEAM}`, err: '' }
    expect(await ada.run(['run', ...PRINT], options)).toEqual(whole)
    expect(await ada.run(['secrets', 'get', 'KEY'], options)).toMatchObject({ out: TEAM, err: '' })
    expect((await ada.run(['secrets', 'list'], options)).code).toBe(0)
    writeFileSync(pathOf(ada), sound)
  })

  test('a personal value is not used if a policy omits the stored value from environments', async () => {
    const only = ['-e', 'bound', '--policy', '{"allowed_locations":["header"]}']
    await ada.must('secrets', 'set', 'BOUND=x', ...only)
    await ada.must('secrets', 'set', `BOUND=${OWN}`, '--mine', '-e', 'bound')
    const { out, err } = await ada.run(['run', '-e', 'bound', '--', 'sh', '-c', 'echo "<$BOUND>"'])
    expect([out, err.includes('your own')]).toEqual(['<>\n', false])
  })

  test('a personal value can have a new name and its own references', async () => {
    const set = [
      'secrets',
      'set',
      'MINE=<${HOST}>',
      '--mine',
      '--references',
      '--yes',
      '-e',
      'alone',
    ]
    expect(await ada.run(set)).toMatchObject({
      code: 0,
      err: 'MINE refers to HOST, not in payments/alone\n',
    })
    await ada.must('secrets', 'set', 'HOST=h', '-e', 'alone')
    expect(await ada.must('secrets', 'get', 'MINE', '-e', 'alone')).toBe('<h>')
    expect(await ada.must('secrets', 'get', 'MINE', '-e', 'alone', '--raw')).toBe('<${HOST}>')
    expect(await ada.json('secrets', 'get', 'MINE', '-e', 'alone')).toEqual({
      ...{ key: 'MINE', value: '<h>', mine: true, environment: 'alone' },
    })
  })
})

describe('the server receives no personal value', () => {
  test('set, pull, push and diff send no personal value', async () => {
    const before = await ada.json('secrets', 'history', 'KEY')
    await ada.must('secrets', 'set', `KEY=${OWN}`, '--mine')
    const pulled = await reveal('secrets', 'pull', 'all.env', '--force')
    expect(pulled.err).toContain('without your own values, which run and inject use: KEY\n')
    expect(readFileSync(join(ada.cwd, 'all.env'), 'utf8')).not.toContain(OWN)
    const pushed = await ada.json('secrets', 'push', 'all.env')
    expect(pushed).toMatchObject({ created: 0, updated: 0 })
    expect(await ada.json('secrets', 'history', 'KEY')).toEqual(before)
    const compared = (await ada.json('secrets', 'diff', 'development', 'staging')) as object
    expect(compared).toMatchObject({ same: ['KEY'], different_value: [] })
  })

  test('set --mine rejects a policy, because only stored values have one', async () => {
    for (const option of [['--plain'], ['--sensitive'], ['--policy', 'null']]) {
      const { code, err } = await ada.run(['secrets', 'set', 'KEY=x', '--mine', ...option])
      expect([code, err.includes('your own values have no policy')]).toEqual([2, true])
    }
  })
})

test('the list marks personal values', async () => {
  const listed = (await ada.json('secrets', 'list')) as { key: string; mine?: boolean }[]
  expect(listed.filter(({ mine }) => mine).map(({ key }) => key)).toEqual(['KEY'])
  expect(await ada.must('secrets', 'list')).toMatch(/KEY +secret, with your own value/)
  expect(await ada.must('secrets', 'list', '-e', 'alone')).toMatch(/MINE +only your own value/)
})

describe('the file', () => {
  test('only the owner can read the file, which contains neither values nor names', () => {
    expect(statSync(pathOf(ada)).mode & 0o777).toBe(0o600)
    const text = readFileSync(pathOf(ada), 'utf8')
    for (const hidden of [
      OWN,
      'KEY',
      'development',
      Buffer.from(OWN).toString('base64').slice(0, 20),
    ]) {
      expect(text).not.toContain(hidden)
    }
  })

  test('an altered file is an error, and no command is run or value replaced', async () => {
    const sound = readFileSync(pathOf(ada), 'utf8')
    const parsed = JSON.parse(sound) as { salt: string; sealed: string }
    const flipped = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)
    const altered = [
      '',
      '{}',
      sound.slice(0, -20),
      JSON.stringify({ ...parsed, sealed: flipped(parsed.sealed) }),
      JSON.stringify({ ...parsed, salt: flipped(parsed.salt) }),
      JSON.stringify({ ...parsed, more: 1 }),
    ]
    for (const text of altered) {
      writeFileSync(pathOf(ada), text)
      for (const args of [
        ['run', '--', 'echo', 'started'],
        ['secrets', 'get', 'KEY'],
        ['secrets', 'set', 'KEY=x', '--mine'],
        ['secrets', 'delete', 'KEY', '--mine', '--yes'],
      ]) {
        const { code, out, err } = await ada.run(args)
        expect([code, out, err.includes(`${FILE} cannot be decrypted: it was altered`)]).toEqual([
          1,
          '',
          true,
        ])
      }
      expect(readFileSync(pathOf(ada), 'utf8')).toBe(text)
    }
    expect((await reveal('run', '--no-mine', ...PRINT)).out).toBe(`${TEAM}|at:${TEAM}`)
    writeFileSync(pathOf(ada), sound)
    expect((await reveal('secrets', 'get', 'KEY')).out).toBe(OWN)
  })

  test('the file of one account does not open for another, even on the same machine or copied', async () => {
    const eve = await openAccount(app, 'eve@own-values.example')
    await eve.must('init', 'payments')
    await eve.must('secrets', 'set', 'KEY=hers')
    writeFileSync(pathOf(eve), readFileSync(pathOf(ada)))
    const { code, err } = await eve.run(['secrets', 'get', 'KEY'])
    expect([code, err.includes('belongs to another account')]).toEqual([1, true])
    eve.remove()
    const register = [
      'register',
      'bob@own-values.example',
      '--password-stdin',
      '--insecure-storage',
    ]
    await ada.run([...register, '--name', 'bob'], { stdin: `${PASSWORD}\n` })
    const cwd = join(ada.home, 'bobs')
    mkdirSync(cwd)
    const asBob = (...args: string[]) => ada.run(args, { cwd })
    await asBob('init', 'payments')
    await asBob('secrets', 'set', 'KEY=his')
    expect(await asBob('secrets', 'get', 'KEY')).toMatchObject({ out: 'his', err: '' })
    await asBob('secrets', 'set', 'KEY=his own', '--mine')
    expect(await asBob('secrets', 'get', 'KEY')).toMatchObject({ out: 'his own' })
    await ada.must('account', 'use', 'ada@own-values.example')
    expect((await reveal('secrets', 'get', 'KEY')).out).toBe(OWN)
    await ada.must('logout', '--account', 'bob')
    expect(readdirSync(configOf(ada)).filter((name) => name.startsWith('own-values'))).toEqual([
      FILE,
    ])
  })

  test('the file is sealed too if the session is protected by a passphrase', async () => {
    const cy = await openTerminal(app)
    const env = { SERVICE_PASSPHRASE: 'seven quiet herons' }
    const must = async (args: string[], stdin = '') => {
      const ran = await cy.run(args, { env, stdin, reveals: true })
      if (ran.code !== 0) throw new Error(ran.err)
      return ran.out
    }
    await must(['register', 'cy@own-values.example', '--password-stdin'], `${PASSWORD}\n`)
    await must(['init', 'payments'])
    await must(['secrets', 'set', `KEY=${OWN}`, '--mine'])
    expect(await must(['secrets', 'get', 'KEY'])).toBe(OWN)
    expect(readFileSync(pathOf(cy), 'utf8')).not.toContain(OWN)
    const wrong = await cy.run(['secrets', 'get', 'KEY'], { env: { SERVICE_PASSPHRASE: 'other' } })
    expect([wrong.code, wrong.out]).toEqual([3, ''])
    cy.remove()
  })
})

describe('the end of personal values', () => {
  test('delete --mine removes a personal value and keeps the stored one', async () => {
    const unknown = await ada.run(['secrets', 'rm', 'HOST', '--mine', '--yes'])
    expect([unknown.code, unknown.err.includes('HOST')]).toEqual([4, true])
    await ada.must('secrets', 'set', 'SECOND=2', '--mine')
    await ada.must('secrets', 'rm', 'KEY', '--mine', '--yes')
    expect(await reveal('secrets', 'get', 'KEY')).toEqual({ code: 0, out: TEAM, err: '' })
    expect(await ada.must('secrets', 'get', 'SECOND')).toBe('2')
  })

  test('logout and account deletion remove the personal values', async () => {
    for (const end of [['logout'], ['account', 'delete', '--password-stdin', '--yes']]) {
      const dan = await openAccount(app, `dan-${end.length}@own-values.example`)
      await dan.must('init', 'payments')
      await dan.must('secrets', 'set', `KEY=${OWN}`, '--mine')
      expect(existsSync(pathOf(dan))).toBe(true)
      const { code } = await dan.run(end, { stdin: `${PASSWORD}\n` })
      expect([code, existsSync(pathOf(dan))]).toEqual([0, false])
      dan.remove()
    }
  })
})

test('logout lists what it removes: agent tokens and personal values', async () => {
  const frank = await openAccount(app, 'frank@own-values.example')
  await frank.must('init', 'payments')
  await frank.must('agent', 'create', 'deploy-bot', '--save')
  await frank.must('secrets', 'set', `KEY=${OWN}`, 'HOST=localhost', '--mine')
  const { code, out, err } = await frank.run(['logout'])
  expect([code, out, err]).toEqual([
    0,
    'Signed out.\n',
    'Also removed from this machine: tokens of agents (deploy-bot); your own values (HOST, KEY).\n',
  ])
  frank.remove()
})

test('a fallback names its personal values and does not bypass --no-mine', async () => {
  const server = openSwitch(app.controlPlane)
  const fay = await openAccount(
    { controlPlane: server.origin, resolver: app.resolver },
    'fay@own-values.example',
  )
  await fay.must('init', 'payments')
  await fay.must('secrets', 'set', `KEY=${OWN}`, '--mine')
  const run = (...args: string[]) => fay.run(['run', '--fallback', 'kept', ...args, '--', 'true'])
  expect(await run()).toMatchObject({ code: 0, err: SAID })
  await server.to('down')
  const offline = await run()
  expect([offline.code, offline.err.includes(', with values of your own: KEY\n')]).toEqual([
    0,
    true,
  ])
  const without = await run('--no-mine')
  expect([without.code, without.err.includes('kept has values of your own: KEY')]).toEqual([
    5,
    true,
  ])
  await server.to('passes')
  await fay.must('secrets', 'set', 'KEY=everybodys')
  expect((await run('--no-mine')).code).toBe(0)
  await server.to('down')
  expect((await run('--no-mine')).code).toBe(0)
  fay.remove()
  await server.close()
})
