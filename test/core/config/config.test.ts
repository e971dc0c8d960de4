// tier: quick
import { describe, expect, test } from 'bun:test'
import { ConfigError, documentConfig, readConfig } from '../../../src/core/config/config.ts'

const keys = {
  SECRET_KEY: 'a secret key of at least 32 characters',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64url'),
}
const unasked = () => {
  throw new Error('own keys were asked for')
}

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env, () => keys)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('an empty environment selects the embedded database with its own keys', () => {
  const asked: string[] = []
  const config = readConfig({}, (directory) => {
    asked.push(directory)
    return keys
  })
  expect(asked).toEqual(['cloakroom-data'])
  expect(config).toMatchObject({
    ...keys,
    SERVICE_SETTINGS: 'development',
    ALLOWED_HOSTS: ['localhost', '127.0.0.1', '[::1]'],
    HOST: '127.0.0.1',
    PORT: 8000,
    RESOLVER_PORT: 8080,
    REGISTRATION: 'open',
    KEY_CACHE_SECONDS: 60,
    RATE_REGISTER: { count: 100, seconds: 3600 },
    RATE_LOGIN: { count: 240, seconds: 60 },
    RATE_API: { count: 600, seconds: 10 },
    RATE_TOKEN: { count: 1000, seconds: 1 },
  })
  expect(config.DB_HOST).toBeUndefined()
})

test("given keys are used, and the server's own ones are not requested", () => {
  expect(readConfig(keys, unasked)).toMatchObject(keys)
})

test('an empty variable counts as unset', () => {
  expect(readConfig({ ...keys, PORT: '', DB_HOST: '', CRON_SECRET: '' }, unasked)).toMatchObject({
    PORT: 8000,
  })
})

describe('an invalid value is one line: variable, complaint, example', () => {
  test.each([
    ['PORT', 'eighty'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['RESOLVER_PORT', '0x1f90x'],
    ['SERVICE_SETTINGS', 'prod'],
    ['SECRET_KEY', 'short'],
    ['SECRET_KEY', `${keys.SECRET_KEY},short`],
    ['SECRET_KEY', `${keys.SECRET_KEY},`],
    ['SECRET_KEY', `${keys.SECRET_KEY}, ${keys.SECRET_KEY}`],
    ['SECRET_KEY_LOST', 'accept'],
    ['SECRET_KEY_LOST', '3f9a1c07,3f9a1c0'],
    ['ENCRYPTION_KEY', 'hunter2'],
    ['ENCRYPTION_KEY', `${keys.ENCRYPTION_KEY},`],
    ['ENCRYPTION_KEY', Buffer.alloc(31).toString('base64url')],
    ['ENCRYPTION_KEY', Buffer.alloc(33).toString('base64url')],
    ['CRON_SECRET', 'short'],
    ['DB_SSLMODE', 'yes'],
    ['LOG_LEVEL', 'loud'],
    ['ROLE', 'both'],
    ['REGISTRATION', 'maybe'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', 'proxy.internal'],
    ['RESOLVER_ALLOW_NETWORKS', '10.0.0'],
    ['RESOLVER_HOSTS', 'name'],
    ['RESOLVER_TIMEOUT_MS', '0'],
    ['RESOLVER_TIMEOUT_MS', '600001'],
    ['BODY_MEMORY_MIB', '255'],
    ['BODY_MEMORY_MIB', '65537'],
    ['RESOLVER_SILENCE_MS', '0'],
    ['RESOLVER_SILENCE_MS', '600001'],
    ['KEY_CACHE_SECONDS', '-1'],
    ['RATE_LOGIN', '10'],
    ['RATE_LOGIN', '0/60'],
    ['RATE_LOGIN', '10/0'],
    ['RATE_LOGIN', '10/60/60'],
    ['RATE_API', '-1/60'],
    ['PORT', '0x1f90'],
    ['PORT', '8e3'],
    ['DB_PORT', '0'],
    ['DB_PORT', 'postgres'],
    ['DB_HOST', 'postgres://db.internal'],
    ['DB_HOST', 'db.internal:5432'],
    ['DB_HOST', 'db1,/run/postgresql'],
    ['DB_HOST', 'db1:0,db2'],
    ['DB_HOST', 'db1,'],
    ['DB_HOST', 'db1,fd00::1:5432:zz'],
    ['DB_WAIT_SECONDS', 'ever so long'],
    ['ADMIN_PORT', 'metrics'],
    ['WORKERS', 'several'],
    ['WORKERS', '65'],
    ['RESOLVER_CONCURRENCY', '1.5'],
    ['RESOLVER_TIMEOUT_MS', '30 seconds'],
    ['RESOLVER_HOSTS', 'api.internal=999.1.1.1'],
    ['RESOLVER_HOSTS', 'api.internal=10.1.2.3:8443'],
    ['RESOLVER_HOSTS', 'api.internal:8443=10.1.2.3'],
    ['AUDIT_RETENTION_DAYS', '0'],
    ['ALLOWED_HOSTS', 'https://vault.example.com'],
    ['ALLOWED_HOSTS', 'vault.example.com:8000'],
    ['ALLOWED_HOSTS', ','],
  ])('%s=%s', (name, value) => {
    const problems = problemsOf({ ...keys, [name]: value })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(new RegExp(`^${name}: .+ \\(example: .+\\)$`))
    expect(problems[0]).not.toContain('\n')
    // The error in plain words.
    expect(problems[0]).toMatch(/^\w+: must /)
    if (value.length > 5) expect(problems[0]).not.toContain(value)
  })
})

test('a number may have spaces around it, like in a file of variables', () => {
  expect(readConfig({ ...keys, PORT: ' 8001 ', DB_WAIT_SECONDS: '0' }, unasked)).toMatchObject({
    PORT: 8001,
    DB_WAIT_SECONDS: 0,
  })
})

test('a host name with a valid form is accepted', () => {
  for (const ALLOWED_HOSTS of ['*', '.example.com', '[::1]', 'my_host-1.internal,10.0.0.1'])
    expect(problemsOf({ ...keys, ALLOWED_HOSTS })).toEqual([])
  expect(readConfig({ ...keys, ALLOWED_HOSTS: 'a.internal,fd00::1' }, unasked)).toMatchObject({
    ALLOWED_HOSTS: ['a.internal', '[fd00::1]'],
  })
  const server = { ...keys, DB_NAME: 'cloakroom', DB_USER: 'cloakroom' }
  for (const DB_HOST of [
    'database',
    'db.internal',
    '10.0.0.1',
    '::1',
    '/run/postgresql',
    'db1, db2:5433,[::1]:5434,fd00::1',
  ])
    expect(problemsOf({ ...server, DB_HOST })).toEqual([])
  expect(problemsOf({ ...keys, RESOLVER_HOSTS: 'a.internal=10.0.0.1,b=fd00::1' })).toEqual([])
})

describe('each port is listened on once', () => {
  const twice = 'RESOLVER_PORT: must differ from PORT (example: 8080)'
  const figures = 'ADMIN_PORT: must differ from PORT and RESOLVER_PORT (example: 9464)'

  test('listeners of this process cannot share a port', () => {
    const same = { ...keys, PORT: '9000', RESOLVER_PORT: '9000' }
    expect(problemsOf(same)).toEqual([twice])
    expect(problemsOf({ ...keys, ADMIN_PORT: '8080' })).toEqual([figures])
    for (const ROLE of ['control-plane', 'resolver'])
      expect(problemsOf({ ...same, ROLE })).toEqual([])
    expect(problemsOf({ ...keys, PORT: '0', RESOLVER_PORT: '0', ADMIN_PORT: '0' })).toEqual([])
  })

  test('metrics of every worker need separate ports', () => {
    const server = { ...keys, DB_HOST: 'db', DB_NAME: 'cloakroom', DB_USER: 'cloakroom' }
    expect(problemsOf({ ...server, WORKERS: '4', ADMIN_PORT: '7997' })).toEqual([figures])
    expect(problemsOf({ ...server, WORKERS: '3', ADMIN_PORT: '7997' })).toEqual([])
  })
})

test('all problems are reported at once', () => {
  const problems = problemsOf({ PORT: 'x', ROLE: 'x', RATE_API: 'x' })
  expect(problems.map((line) => line.split(':')[0])).toEqual(['PORT', 'ROLE', 'RATE_API'])
})

describe('required variables', () => {
  test('production names every missing variable', () => {
    const problems = problemsOf({ SERVICE_SETTINGS: 'production' })
    expect(problems.map((line) => line.split(':')[0])).toEqual([
      'SECRET_KEY',
      'ENCRYPTION_KEY',
      'CRON_SECRET',
      'ALLOWED_HOSTS',
      'DB_HOST',
      'DB_NAME',
      'DB_USER',
      'DB_PASSWORD',
    ])
  })

  test('production with all of them starts', () => {
    const env = {
      ...keys,
      SERVICE_SETTINGS: 'production',
      CRON_SECRET: 'a cron secret of some length',
      ALLOWED_HOSTS: 'vault.example.com, .example.org ,',
      DB_HOST: 'db',
      DB_NAME: 'cloakroom',
      DB_USER: 'cloakroom',
      DB_PASSWORD: 'x',
    }
    expect(readConfig(env, unasked)).toMatchObject({
      ALLOWED_HOSTS: ['vault.example.com', '.example.org'],
      DB_PORT: 5432,
      DB_SSLMODE: 'prefer',
    })
  })

  test('a PostgreSQL server needs keys, which are never generated for it', () => {
    const problems = problemsOf({ DB_HOST: 'db' })
    expect(problems.map((line) => line.split(':')[0])).toEqual([
      'DB_NAME',
      'DB_USER',
      'SECRET_KEY',
      'ENCRYPTION_KEY',
    ])
  })
})

test('the documentation names every variable and no value of this process', () => {
  const text = documentConfig()
  for (const name of Object.keys(readConfig(keys, unasked))) expect(text).toContain(`\`${name}\``)
  expect(text).not.toContain(keys.ENCRYPTION_KEY)
})

describe('workers', () => {
  const server = { ...keys, DB_HOST: 'db', DB_NAME: 'cloakroom', DB_USER: 'cloakroom' }
  const complaint =
    'ADMIN_PORT: must be above 0 and leave one port per worker up to 65535 (example: 9464)'

  test('several workers need PostgreSQL, and a port each for their metrics', () => {
    expect(problemsOf({ ...keys, WORKERS: '2' })).toEqual([
      'WORKERS: more than 1 needs PostgreSQL: set DB_HOST (example: 1)',
    ])
    expect(problemsOf({ ...server, WORKERS: '2', ADMIN_PORT: '0' })).toEqual([complaint])
    expect(problemsOf({ ...server, WORKERS: '3', ADMIN_PORT: '65534' })).toEqual([complaint])
    const most = readConfig({ ...server, WORKERS: '3', ADMIN_PORT: '65533' }, unasked)
    expect(most.WORKERS).toBe(3)
  })

  test('one worker may pick its port, on any database', () => {
    const config = readConfig({ ...keys, WORKERS: '1', ADMIN_PORT: '0' }, unasked)
    expect([config.WORKERS, config.ADMIN_PORT]).toEqual([1, 0])
  })
})
