// tier: all
/** Several accounts and servers side by side on one machine. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startTestApp, type TestApp } from '../support/app.ts'
import { answering } from './answering.ts'
import { openAccount, openTerminal, PASSWORD, type RunOptions, type Terminal } from './person.ts'

let app: TestApp
let far: TestApp

beforeAll(async () => {
  app = await startTestApp()
  far = await startTestApp()
})
afterAll(async () => {
  await app.stop()
  await far.stop()
})

const hostOf = ({ controlPlane }: TestApp) => new URL(controlPlane).host
const enter = (
  { run }: Terminal,
  command: 'register' | 'login',
  args: readonly string[],
  options: RunOptions = {},
) =>
  run([command, ...args, '--password-stdin', '--insecure-storage'], {
    stdin: `${PASSWORD}\n`,
    ...options,
  })
const whoIs = async ({ run }: Terminal, args: readonly string[] = [], options: RunOptions = {}) => {
  const { code, out, err } = await run(['whoami', '--json', ...args], options)
  if (code !== 0) throw new Error(err)
  const { email, account, because } = JSON.parse(out)
  return { email, account, because }
}
const kept = ({ home }: Terminal, name: string) => join(home, '.config', 'cloakroom', name)

describe('a second login', () => {
  let ada: Terminal
  beforeAll(async () => {
    ada = await openAccount(app, 'ada@one.example')
  })
  afterAll(() => ada.remove())

  test('a second login keeps the first account and gets its own name', async () => {
    const { code, out, err } = await enter(ada, 'register', ['bob@one.example', '--json'])
    expect(code).toBe(0)
    const bob = `bob@one.example@${hostOf(app)}`
    const first = `ada@one.example@${hostOf(app)}`
    expect(JSON.parse(out)).toMatchObject({ account: bob })
    expect(err).toBe('')
    expect(await whoIs(ada)).toEqual({
      email: 'bob@one.example',
      account: bob,
      because: 'the one in use',
    })
    const again = await enter(ada, 'login', ['carl@one.example'])
    expect(again.code).toBe(3)
    expect(await ada.json('account', 'list')).toEqual([
      {
        name: first,
        email: 'ada@one.example',
        server: app.controlPlane,
        used: false,
        because: null,
      },
      {
        name: bob,
        email: 'bob@one.example',
        server: app.controlPlane,
        used: true,
        because: 'the one in use',
      },
    ])
    const back = await enter(ada, 'login', ['ada@one.example'])
    expect(back.err).toBe(
      `Now using ${first}. ${bob} is still signed in; to return: cloakroom account use ${bob}\n`,
    )
  })

  test('logging in to the same account again replaces its session and can rename it', async () => {
    const named = await enter(ada, 'login', ['Ada@One.example', '--name', 'work'])
    expect(named.err).toContain(`ada@one.example@${hostOf(app)} is now called work.`)
    expect(await ada.must('account', 'ls', '-q')).toBe(`bob@one.example@${hostOf(app)}\nwork\n`)
    const unnamed = await enter(ada, 'login', ['ada@one.example'])
    expect([unnamed.code, unnamed.err]).toEqual([0, ''])
    expect(await whoIs(ada)).toMatchObject({ account: 'work' })
  })

  test('a login under the name of another account is rejected before anything is created', async () => {
    const { code, err } = await enter(ada, 'register', ['dora@one.example', '--name', 'work'])
    expect(code).toBe(2)
    expect(err).toContain('work is the name of another account')
    expect(
      (await app.connection.sql`select 1 from users where email = 'dora@one.example'`).length,
    ).toBe(0)
    for (const name of ['', '-x', 'a\x1b[31m']) {
      expect((await enter(ada, 'login', ['ada@one.example', `--name=${name}`])).code).toBe(2)
    }
  })

  test('an option or a variable selects the account, by name or address', async () => {
    const bob = { email: 'bob@one.example', account: `bob@one.example@${hostOf(app)}` }
    expect(await whoIs(ada, ['--account', 'bob@one.example'])).toEqual({
      ...bob,
      because: 'named by --account',
    })
    const env = { SERVICE_ACCOUNT: 'bob@one.example' }
    expect(await whoIs(ada, [], { env })).toEqual({ ...bob, because: 'named by SERVICE_ACCOUNT' })
    expect(await whoIs(ada, ['--account', 'work'], { env })).toMatchObject({ account: 'work' })
  })

  test('account use switches the account for all later commands, also in status', async () => {
    expect(await ada.must('account', 'use', 'bob@one.example')).toStartWith('Using bob@')
    expect(await ada.json('status')).toMatchObject({
      logged_in: 'bob@one.example',
      because: 'the one in use',
    })
    await ada.must('account', 'use', 'work')
    expect(await whoIs(ada)).toMatchObject({ email: 'ada@one.example' })
  })

  test('an unknown account name lists similar ones, and is exit 4', async () => {
    const { code, err } = await ada.run(['whoami', '--account', 'wrok'])
    expect({ code, err }).toEqual({
      code: 4,
      err: 'cloakroom: there is no account wrok (not_found)\n→ is it work?\n',
    })
    expect((await ada.run(['account', 'list'], { env: { SERVICE_ACCOUNT: 'nobody' } })).code).toBe(
      0,
    )
  })

  test('accounts are completed', async () => {
    const { out } = await ada.run(['__complete', 'whoami', '--account', 'w'])
    expect(out).toBe(`work\t${app.controlPlane}\n:done\n`)
  })

  test('only the owner can read the stored accounts, and each session has its own file', async () => {
    expect(statSync(kept(ada, 'accounts.json')).mode & 0o777).toBe(0o600)
    const list = JSON.parse(readFileSync(kept(ada, 'accounts.json'), 'utf8'))
    const slots = list.accounts.map(({ slot }: { slot: string }) => slot)
    expect(new Set(slots).size).toBe(2)
    for (const slot of slots) expect(statSync(kept(ada, `${slot}.json`)).mode & 0o777).toBe(0o600)
    for (const name of ['session', ...slots])
      expect(JSON.stringify(list)).not.toContain(
        JSON.parse(readFileSync(kept(ada, `${name}.json`), 'utf8')).privateKey,
      )
  })

  test('removing an account asks for confirmation, and leaves the others', async () => {
    const refused = await ada.run(['account', 'remove', 'bob@one.example'])
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--yes')])
    await ada.must('account', 'rm', 'bob@one.example', '--yes')
    expect(await ada.must('account', 'list', '-q')).toBe('work\n')
    expect(await whoIs(ada)).toMatchObject({ account: 'work' })
  })
})

describe('a folder', () => {
  let ada: Terminal
  const below = () => join(ada.cwd, 'src', 'deep')
  beforeAll(async () => {
    ada = await openAccount(app, 'ada@two.example')
    await ada.must('init', 'payments')
    mkdirSync(below(), { recursive: true })
    await enter(ada, 'register', ['bob@two.example', '--name', 'private'])
  })
  afterAll(() => ada.remove())

  test('a folder remembers its account, also for its subfolders', async () => {
    const because = `account of the folder ${ada.cwd}`
    expect(await whoIs(ada)).toMatchObject({ email: 'ada@two.example', because })
    expect(await whoIs(ada, [], { cwd: below() })).toMatchObject({ email: 'ada@two.example' })
    expect(await whoIs(ada, [], { cwd: ada.home })).toMatchObject({ email: 'bob@two.example' })
    const { err } = await ada.run(['account', 'use', 'private'])
    expect(err).toBe(`This folder still uses ada@two.example, ${because}.\n`)
  })

  test('only --here changes the account of a folder', async () => {
    await ada.must('account', 'use', 'private', '--here')
    expect(await whoIs(ada)).toMatchObject({ email: 'bob@two.example' })
    await ada.must('account', 'use', 'ada@two.example', '--here')
    expect(await whoIs(ada)).toMatchObject({ email: 'ada@two.example' })
  })

  test('a project file cannot choose the account of its folder', async () => {
    const folder = join(ada.home, 'clone')
    mkdirSync(folder)
    writeFileSync(join(folder, '.cloakroom.json'), '{"account":"ada@two.example"}')
    const { code, err } = await ada.run(['whoami'], { cwd: folder })
    expect([code, err]).toEqual([2, expect.stringContaining('is not a cloakroom settings file')])
    writeFileSync(join(folder, '.cloakroom.json'), readFileSync(join(ada.cwd, '.cloakroom.json')))
    expect(await whoIs(ada, [], { cwd: folder })).toMatchObject({ email: 'bob@two.example' })
  })

  test('another account does not take over a folder after its account has logged out', async () => {
    await ada.must('logout')
    const { code, err } = await ada.run(['secrets', 'list'])
    expect(code).toBe(3)
    expect(err).toContain(`ada@two.example (account of the folder ${ada.cwd}) is not signed in`)
    expect(await ada.json('status')).toMatchObject({ logged_in: 'nobody' })
    expect(await whoIs(ada, [], { cwd: ada.home })).toMatchObject({ email: 'bob@two.example' })
    await enter(ada, 'login', ['ada@two.example'])
    expect(await ada.json('secrets', 'list')).toEqual([])
  })

  test('a folder has no account once its account is removed', async () => {
    await ada.must('account', 'remove', 'ada@two.example', '--yes')
    expect(await whoIs(ada)).toMatchObject({ email: 'bob@two.example' })
  })
})

describe('accounts of two servers', () => {
  let ada: Terminal
  /** A machine on which no variable names a server. */
  const here = { env: { SERVICE_SERVER_URL: '', SERVICE_RESOLVER_URL: '' } }
  const at = ({ controlPlane, resolver }: TestApp) => [
    ...['--server', controlPlane],
    ...['--resolver', resolver],
  ]
  beforeAll(async () => {
    ada = await openTerminal(app)
    await enter(ada, 'register', ['ada@three.example', '--name', 'near', ...at(app)], here)
    await enter(ada, 'register', ['ada@three.example', '--name', 'far', ...at(far)], here)
  })
  afterAll(() => ada.remove())

  const statusOf = async (...args: string[]) => {
    const { out } = await ada.run(['status', '--json', ...args], here)
    const { server, account } = JSON.parse(out)
    return { server, account }
  }
  const addressesOf = async (...args: string[]) => {
    const { out } = await ada.run(['config', '--json', ...args], here)
    const rows = JSON.parse(out) as { setting: string; value: string; origin: string }[]
    return rows.slice(0, 2).map(({ value }) => value)
  }

  test('each account uses its own server and resolver', async () => {
    expect(await statusOf()).toEqual({ server: far.controlPlane, account: 'far' })
    expect(await statusOf('--account', 'near')).toEqual({
      server: app.controlPlane,
      account: 'near',
    })
    expect(await addressesOf('--account', 'near')).toEqual([app.controlPlane, app.resolver])
    expect(await addressesOf('--account', 'far')).toEqual([far.controlPlane, far.resolver])
    expect((await ada.run(['account', 'use', 'near'], here)).code).toBe(0)
    expect(await statusOf()).toEqual({ server: app.controlPlane, account: 'near' })
  })

  test('a named server selects its account, and no session is sent elsewhere', async () => {
    expect(await whoIs(ada, ['--server', far.controlPlane], here)).toMatchObject({ account: 'far' })
    const { code, err } = await ada.run(
      ['whoami', '--account', 'near', '--server', far.controlPlane],
      here,
    )
    expect(code).toBe(3)
    expect(err).toContain(`is an account at ${app.controlPlane}, not at ${far.controlPlane}`)
  })

  test("logging out ends one account's session, or all", async () => {
    const { out, err } = await ada.run(['logout', '--account', 'far'], here)
    expect([out, err]).toEqual(['Signed out.\n', 'Still signed in: near.\n'])
    await enter(ada, 'login', ['ada@three.example', ...at(far)], here)
    const all = await ada.run(['logout', '--all', '--json'], here)
    expect(JSON.parse(all.out)).toEqual({
      logged_out: ['ada@three.example', 'ada@three.example'],
      tokens: [],
      own_values: [],
    })
    expect((await ada.run(['whoami'], here)).err).toContain('not signed in')
    expect(existsSync(kept(ada, 'session.json'))).toBe(false)
  })
})

describe('the session of a version with one account', () => {
  test('the earlier session is kept beside a second one', async () => {
    const ada = await openAccount(app, 'ada@four.example')
    rmSync(kept(ada, 'accounts.json'))
    await enter(ada, 'register', ['bob@four.example'])
    const first = `ada@four.example@${hostOf(app)}`
    expect(await whoIs(ada, ['--account', first])).toMatchObject({ email: 'ada@four.example' })
    ada.remove()
  })

  test('a sealed earlier session is kept under the passphrase of the machine', async () => {
    const ada = await openTerminal(app)
    const env = { SERVICE_PASSPHRASE: 'of this machine' }
    const sealed = (...args: string[]) =>
      ada.run([...args, '--password-stdin'], { stdin: PASSWORD, env })
    expect((await sealed('register', 'ada@five.example')).code).toBe(0)
    rmSync(kept(ada, 'accounts.json'))
    const wrong = await ada.run(['register', 'bob@five.example', '--password-stdin'], {
      stdin: PASSWORD,
      env: { SERVICE_PASSPHRASE: 'another' },
    })
    expect([wrong.code, wrong.err]).toEqual([3, expect.stringContaining('passphrase is wrong')])
    expect((await sealed('register', 'bob@five.example')).code).toBe(0)
    expect(await whoIs(ada, ['--account', 'ada@five.example'], { env })).toMatchObject({
      email: 'ada@five.example',
    })
    expect(await whoIs(ada, [], { env })).toMatchObject({ email: 'bob@five.example' })
    const asked = await answering(['whoami'], {
      cwd: ada.cwd,
      env: { HOME: ada.home, SERVICE_SERVER_URL: app.controlPlane },
      typed: [
        { when: 'Passphrase of this machine', type: 'a mistyped one\r' },
        { when: /is wrong[\s\S]*Passphrase of/, type: 'of this machine\r' },
      ],
    })
    expect([asked.code, asked.screen]).toEqual([0, expect.stringContaining('bob@five.example')])
    const second = await ada.run(['register', 'eve@five.example', '--password-stdin'], {
      stdin: PASSWORD,
      env: { SERVICE_PASSPHRASE: 'another' },
    })
    expect([second.code, second.err]).toEqual([3, expect.stringContaining('passphrase is wrong')])
    ada.remove()
  })
})

test('a damaged list of accounts is named, and is exit 2', async () => {
  const ada = await openTerminal(app)
  mkdirSync(join(ada.home, '.config', 'cloakroom'), { recursive: true })
  writeFileSync(kept(ada, 'accounts.json'), '{"accounts":[{"slot":"../../etc/passwd"}]}')
  const { code, err } = await ada.run(['whoami'])
  expect([code, err]).toEqual([2, expect.stringContaining('is not a valid account list')])
  ada.remove()
})
