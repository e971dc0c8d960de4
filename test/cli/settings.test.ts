// tier: quick
/** Settings: no file and no value locks anyone out, and each variable has its second name. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { withAliases } from '../../src/core/config/aliases.ts'
import { ConfigError, readConfig } from '../../src/core/config/config.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { openAccount, type Terminal } from './person.ts'

let app: TestApp
let ada: Terminal
let file: string

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@settings.example')
  file = join(ada.home, '.config', 'cloakroom', 'config.json')
  mkdirSync(dirname(file), { recursive: true })
})
afterAll(() => {
  ada.remove()
})

const inFile = () => JSON.parse(readFileSync(file, 'utf8'))

describe('a settings file', () => {
  test('an invalid server address is not stored in the settings', async () => {
    await ada.must('config', 'environment', 'staging')
    for (const value of ['nope', 'ftp://vault.example.com', '']) {
      const { code, err } = await ada.run(['config', 'server', value])
      expect([code, err]).toEqual([
        2,
        'cloakroom: the server is not an address (usage)\n→ example: https://vault.example.com\n',
      ])
    }
    expect(inFile()).toEqual({ environment: 'staging' })
  })

  test('a settings file loses a setting by --unset, and prints one without a value', async () => {
    await ada.must('config', 'project', 'payments')
    expect(await ada.must('config', 'project', '-q')).toBe('payments\n')
    expect(inFile()).toHaveProperty('project')
    await ada.must('config', 'project', '--unset')
    expect(inFile()).toEqual({ environment: 'staging' })
    expect((await ada.run(['config', 'project', 'x', '--unset'])).code).toBe(2)
    expect((await ada.run(['config', 'projct', 'x'])).err).toContain('is it project?')
  })

  test('a settings file with an invalid value causes a warning and the default, and is repaired', async () => {
    writeFileSync(file, '{"server":"nope","environment":"staging","of_later":1}')
    const { code, out, err } = await ada.run(['config', '--json'], {
      env: { SERVICE_SERVER_URL: '' },
    })
    expect([code, err]).toEqual([
      0,
      `${file} has an invalid server, which is ignored (remove it with: cloakroom config server --unset)\n`,
    ])
    expect(JSON.parse(out)).toMatchObject([
      { setting: 'server', value: app.controlPlane, origin: 'account' },
      {},
      {},
      {},
      { setting: 'environment', value: 'staging', origin: 'global file' },
    ])
    await ada.must('config', 'server', '--unset')
    expect(inFile()).toEqual({ environment: 'staging', of_later: 1 })
  })

  test('an invalid settings file gets a warning, and is kept as .broken when replaced', async () => {
    for (const text of ['{"server": 1', '[]', 'null', '']) {
      writeFileSync(file, text)
      expect(await ada.run(['whoami', '-q'])).toMatchObject({
        code: 0,
        err: `${file} is not a cloakroom settings file and is ignored\n`,
      })
      await ada.run(['config', 'environment', 'qa'])
      expect([inFile(), readFileSync(`${file}.broken`, 'utf8')]).toEqual([
        { environment: 'qa' },
        text,
      ])
    }
    await ada.must('config', 'environment', '--unset')
  })

  test('an invalid project file gets the same warning', async () => {
    ada.write('.cloakroom.json', '{"server": 1')
    expect(await ada.run(['config'])).toMatchObject({
      code: 0,
      err: expect.stringContaining('.cloakroom.json is not a cloakroom settings file'),
    })
    ada.write('.cloakroom.json', '{}')
  })
})

describe('an unusable project file selects no other project', () => {
  const merged = '{\n  "project": "shop",\n<<<<<<< ours\n}\n'
  const faults = {
    ', line 3: this is not JSON': merged,
    ', line 4: this is not JSON': '{\n  "project": "shop",\n\n}',
    ', line 1: this is not JSON': '',
    ', line 1: this is not an object of settings': '[]',
    ' has no usable project': '{"project":""}',
  }
  let token: string

  beforeAll(async () => {
    await ada.must('project', 'create', 'another')
    await ada.must('secrets', 'set', 'PORT=1', '-p', 'another')
    token = (
      (await ada.json('agent', 'create', 'bot', '--may', 'use,read', '-p', 'another')) as {
        token: string
      }
    ).token
    ada.write('some.env', 'DEBUG=1\n')
  })
  afterAll(() => {
    for (const name of ['.cloakroom.json', '.cloakroom.json.broken'])
      rmSync(join(ada.cwd, name), { force: true })
  })

  test.each(Object.entries(faults))('%s', async (fault, text) => {
    ada.write('.cloakroom.json', text)
    for (const args of [
      ['secrets', 'push', 'some.env'],
      ['run', '--', 'echo', 'started'],
      ['agent', 'list'],
      ['env', 'use', 'qa'],
    ]) {
      const { code, out, err } = await ada.run(args)
      expect([args, code, out, err]).toEqual([
        args,
        2,
        '',
        expect.stringContaining(
          `.cloakroom.json${fault}; nothing was done (invalid_file)\n→ fix it, recreate it with cloakroom link`,
        ),
      ])
    }
    for (const args of [
      ['run', '--', 'echo', 'started'],
      ['call', 'https://api.example.com/'],
    ]) {
      const { code, out, err } = await ada.run(args, { env: { SERVICE_TOKEN: token } })
      expect([args, code, out, err]).toEqual([args, 2, '', expect.stringContaining(fault)])
    }
  })

  test('commands with -w and -p ignore a broken project file, and link replaces it', async () => {
    ada.write('.cloakroom.json', merged)
    const { name } = ((await ada.json('workspace', 'list')) as [{ name: string }])[0]
    const given = ['-w', name, '-p', 'another']
    expect(await ada.must('run', ...given, '--', 'sh', '-c', 'echo $PORT')).toBe('1\n')
    const { code, out } = await ada.run(['status'])
    expect([code, out]).toEqual([2, expect.stringMatching(/^project +invalid_file$/m)])
    await ada.must('whoami')
    await ada.must('link', 'another')
    expect(await ada.must('run', '--', 'sh', '-c', 'echo $PORT')).toBe('1\n')
  })

  test('config does not change a broken project file, because other settings would be lost', async () => {
    ada.write('.cloakroom.json', merged)
    expect(await ada.run(['config', 'environment', 'qa', '--local'])).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        '.cloakroom.json, line 3: this is not JSON; nothing was changed',
      ),
    })
    expect(readFileSync(join(ada.cwd, '.cloakroom.json'), 'utf8')).toBe(merged)
    ada.write('.cloakroom.json', '{"project":"shop","environment":""}')
    await ada.must('config', 'environment', 'qa', '--local')
    expect(JSON.parse(readFileSync(join(ada.cwd, '.cloakroom.json'), 'utf8'))).toEqual({
      project: 'shop',
      environment: 'qa',
    })
  })

  test('an unknown setting is named in the error', async () => {
    ada.write('.cloakroom.json', '{"project":"shop","bogus":"1"}')
    expect((await ada.run(['secrets', 'list'])).err).toContain(
      'it contains bogus (invalid_file)\n→ allowed: server,',
    )
  })
})

describe('CLOAKROOM_* is another name of SERVICE_*', () => {
  const environmentOf = async (env: Record<string, string>) => {
    const { code, out, err } = await ada.run(['config', '--json'], { env })
    return code === 0 ? JSON.parse(out)[4] : { code, ...JSON.parse(err).error }
  }
  const setting = { setting: 'environment', origin: 'environment' }

  test('config shows which of the two variables was used', async () => {
    expect(await environmentOf({ CLOAKROOM_ENVIRONMENT: 'qa' })).toEqual({
      ...setting,
      value: 'qa',
      from: 'CLOAKROOM_ENVIRONMENT',
    })
    expect(await environmentOf({ SERVICE_ENVIRONMENT: 'qa', CLOAKROOM_ENVIRONMENT: '' })).toEqual({
      ...setting,
      value: 'qa',
      from: 'SERVICE_ENVIRONMENT',
    })
  })

  test('both variables may have the same value; different values are rejected without printing them', async () => {
    const alike = { SERVICE_ENVIRONMENT: 'qa', CLOAKROOM_ENVIRONMENT: 'qa' }
    expect(await environmentOf(alike)).toMatchObject({ value: 'qa' })
    expect(await environmentOf({ SERVICE_TOKEN: 'one', CLOAKROOM_TOKEN: 'two' })).toEqual({
      code: 'usage',
      message:
        'SERVICE_TOKEN and CLOAKROOM_TOKEN are both set with different values: unset one of them',
      hint: null,
    })
  })

  test('a token is accepted under both names, and no program under proxy receives it under either', async () => {
    const env = { CLOAKROOM_TOKEN: 'svc_agt_nonsense', CLOAKROOM_PASSPHRASE: 'of this machine' }
    const called = await ada.run(['call', 'https://api.example.com/'], { env })
    expect([called.code, called.err]).toEqual([3, expect.stringContaining('(invalid_token)')])
    await ada.must('init', 'payments')
    const child = ['--', 'sh', '-c', 'env | grep -c -e nonsense -e "of this machine"']
    const ran = await ada.run(['proxy', '--local', ...child], { env })
    expect([ran.out, ran.code]).toEqual(['0\n', 1])
  })

  test('the server reads both names of its settings', () => {
    const keys = () => ({ SECRET_KEY: 'x'.repeat(32), ENCRYPTION_KEY: 'x' })
    const config = (env: Record<string, string>) => readConfig(env, keys).SERVICE_SETTINGS
    expect(config({ CLOAKROOM_SETTINGS: 'development' })).toBe('development')
    expect(() => config({ CLOAKROOM_SETTINGS: 'production' })).toThrow(ConfigError)
    expect(() =>
      config({ CLOAKROOM_SETTINGS: 'production', SERVICE_SETTINGS: 'development' }),
    ).toThrow('SERVICE_SETTINGS and CLOAKROOM_SETTINGS are both set with different values')
  })

  test('every variable has both names', () => {
    expect(withAliases({ CLOAKROOM_X: '1', SERVICE_Y: '2', OTHER: '3' })).toEqual({
      env: { CLOAKROOM_X: '1', SERVICE_X: '1', SERVICE_Y: '2', OTHER: '3' },
      conflicts: [],
    })
  })
})

test('reading creates no settings file', () => {
  expect(existsSync(join(ada.cwd, '.cloakroom.json.broken'))).toBe(false)
})

test('a setting is rejected by name if a folder of its path is a file', async () => {
  const path = join(ada.home, 'a-file')
  writeFileSync(path, '')
  const { code, err } = await ada.run(['config', 'server', 'http://127.0.0.1:1'], {
    env: { XDG_CONFIG_HOME: path },
  })
  expect([code, err]).toEqual([
    2,
    expect.stringContaining(`${path}/cloakroom/config.json cannot be written`),
  ])
})
