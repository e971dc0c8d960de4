// tier: quick
/** Secrets from files, as Docker and Kubernetes mount them. */
import { afterAll, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, describeConfig, readConfig } from '../../../src/core/config/config.ts'
import { watched } from '../../support/watched.ts'

const root = mkdtempSync(join(tmpdir(), 'cr-secret-files-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let home: string
beforeEach(() => {
  home = mkdtempSync(join(root, 'each-'))
})

const VALUES: Record<string, string> = {
  SECRET_KEY: 'the newer key with its 32 characters,an older key with its 32 characters',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64url'),
  CRON_SECRET: 'a secret of the clock, long enough',
  DB_PASSWORD: ' pass word, with spaces ',
  OWNER_CODE: 'a code for the first account',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=a token of the collector',
}
const { SECRET_KEY: _, ...OTHERS } = VALUES

function put(text: string | Uint8Array, mode = 0o600): string {
  const path = join(home, 'secret')
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

function read(env: Record<string, string>) {
  const warnings: string[] = []
  const config = readConfig(
    env,
    () => ({ SECRET_KEY: '', ENCRYPTION_KEY: '' }),
    (line) => warnings.push(line),
  )
  return { config, warnings }
}

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    read(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('every secret has a file variable, and no other setting has', () => {
  const secret = describeConfig().flatMap(({ name, file }) => (file ? [[name, file]] : []))
  expect(Object.fromEntries(secret)).toEqual(
    Object.fromEntries(Object.keys(VALUES).map((name) => [name, `${name}_FILE`])),
  )
  // A setting with a name of a key, a password, a secret or a code is one.
  const named = describeConfig().filter(({ name }) => /KEY$|PASSWORD|SECRET$|CODE$/.test(name))
  expect(named.filter(({ file }) => file === null)).toEqual([])
})

test.each(Object.keys(VALUES))('%s_FILE has the effect of the variable', (name) => {
  const { [name]: value = '', ...rest } = VALUES
  const given = read({ ...VALUES }).config
  expect(read({ ...rest, [`${name}_FILE`]: put(value) })).toEqual({ config: given, warnings: [] })
})

test.each([
  ['one line break', '\n', ''],
  ['one line break of Windows', '\r\n', ''],
  ['only one', '\n\n', '\n'],
  ['and no space', ' \n', ' '],
])('%s is removed at the end of a file', (_, end, left) => {
  const DB_PASSWORD_FILE = put(`pass${end}`)
  expect(read({ DB_PASSWORD_FILE }).config.DB_PASSWORD).toBe(`pass${left}`)
})

test('a variable and its file together are an error, and neither is used or shown', () => {
  const path = put(VALUES.SECRET_KEY ?? '')
  expect(problemsOf({ ...VALUES, SECRET_KEY_FILE: path })).toEqual([
    'SECRET_KEY_FILE: must not be set together with SECRET_KEY: unset one of them (example: /run/secrets/secret_key)',
  ])
  // An empty variable counts as unset, both ways.
  expect(problemsOf({ ...VALUES, SECRET_KEY_FILE: '' })).toEqual([])
  expect(problemsOf({ ...VALUES, SECRET_KEY: '', SECRET_KEY_FILE: path })).toEqual([])
})

describe('a rejected file is named with its variable, and none of its content is printed', () => {
  const content = 'sk_content_of_the_file'
  const oversized = Buffer.alloc(65_537, 'x')
  test.each<[string, () => string, string]>([
    ['absent', () => join(home, 'absent'), 'cannot be read (ENOENT)'],
    ['a directory', () => home, 'must be a regular file'],
    ['empty', () => put(''), 'must not be empty'],
    ['a line break alone', () => put('\n'), 'must not be empty'],
    ['too large', () => put(oversized), 'must have at most 65536 bytes'],
    ['not text', () => put(Buffer.from([...Buffer.from(content), 0xff])), 'must be text in UTF-8'],
    ['with a zero byte', () => put(`${content}\0`), 'must be text in UTF-8'],
    ['writable by others', () => put(content, 0o622), 'can be written by every user: chmod o-w'],
    ['a value that does not fit', () => put(content), 'must have at least 32 characters'],
    ['a link to nothing', () => linked(join(home, 'gone')), 'cannot be read (ENOENT)'],
    ['a link to itself', () => linked(join(home, 'link')), 'cannot be read (ELOOP)'],
  ])('%s', (_, make, complaint) => {
    const path = make()
    const [problem = '', ...more] = problemsOf({ ...OTHERS, SECRET_KEY_FILE: path })
    expect(more).toEqual([])
    expect(problem).toStartWith(`SECRET_KEY_FILE: ${path} `.replace(/ $/, ''))
    expect(problem).toContain(complaint)
    expect(problem).not.toContain(content)
    expect(problem).not.toContain('xxxx')
  })

  test('a pipe is rejected without waiting for its writer', () => {
    const path = join(home, 'pipe')
    expect(watched(Bun.spawnSync(['mkfifo', path])).exitCode).toBe(0)
    expect(problemsOf({ ...OTHERS, SECRET_KEY_FILE: path })).toEqual([
      `SECRET_KEY_FILE: ${path} must be a regular file (example: /run/secrets/secret_key)`,
    ])
  })

  test('all invalid files are reported at once', () => {
    const env = { SECRET_KEY_FILE: home, ENCRYPTION_KEY_FILE: join(home, 'absent') }
    expect(problemsOf(env)).toHaveLength(2)
  })
})

function linked(to: string): string {
  const path = join(home, 'link')
  symlinkSync(to, path)
  return path
}

test('a file that every user can read causes a warning, and one that a group can read does not', () => {
  const value = VALUES.SECRET_KEY ?? ''
  const path = put(value, 0o644)
  const { warnings, config } = read({ ...OTHERS, SECRET_KEY_FILE: path })
  expect(config.SECRET_KEY).toBe(value)
  expect(warnings).toEqual([
    `SECRET_KEY_FILE: every user of this machine can read ${path} (chmod o-r)`,
  ])
  expect(read({ ...OTHERS, SECRET_KEY_FILE: put(value, 0o440) }).warnings).toEqual([])
})

test('files mounted by Kubernetes, behind links over ..data, are read in their newest version at the next start', () => {
  const volume = join(home, 'volume')
  const write = (name: string, value: string) => {
    mkdirSync(join(volume, name), { recursive: true })
    writeFileSync(join(volume, name, 'SECRET_KEY'), value, { mode: 0o440 })
    symlinkSync(name, join(volume, '..data_tmp'))
    renameSync(join(volume, '..data_tmp'), join(volume, '..data'))
  }
  write('..2026_11_23_03_30_00.1', 'the first key with its 32 characters')
  const SECRET_KEY_FILE = join(volume, 'SECRET_KEY')
  symlinkSync('..data/SECRET_KEY', SECRET_KEY_FILE)
  const first = read({ ...OTHERS, SECRET_KEY_FILE })
  expect(first.warnings).toEqual([])
  expect(first.config.SECRET_KEY).toBe('the first key with its 32 characters')
  write('..2026_11_23_03_40_00.2', 'the second key with its 32 characters')
  expect(first.config.SECRET_KEY).toBe('the first key with its 32 characters')
  expect(read({ ...OTHERS, SECRET_KEY_FILE }).config.SECRET_KEY).toBe(
    'the second key with its 32 characters',
  )
})

describe('a folder that every user may write', () => {
  const value = VALUES.SECRET_KEY ?? ''
  const problemOf = (path: string) => problemsOf({ ...OTHERS, SECRET_KEY_FILE: path })
  const example = '(example: /run/secrets/secret_key)'

  test('a writable folder is rejected, also behind a link or with a link in it', () => {
    const path = put(value)
    chmodSync(home, 0o777)
    const refused = [
      `SECRET_KEY_FILE: ${path} can be replaced by every user: chmod o-w ${home} ${example}`,
    ]
    expect(problemOf(path)).toEqual(refused)
    const elsewhere = mkdtempSync(join(root, 'elsewhere-'))
    const link = join(elsewhere, 'link')
    symlinkSync(path, link)
    expect(problemOf(link)).toEqual(refused.map((text) => text.replace(path, link)))
    chmodSync(home, 0o700)
    expect(problemOf(link)).toEqual([])
    chmodSync(elsewhere, 0o777)
    expect(problemOf(link)).toHaveLength(1)
  })

  test("a folder is accepted if only owners can replace files in it, like root's under Kubernetes", () => {
    const path = put(value)
    chmodSync(home, 0o1777)
    expect(problemOf(path)).toEqual([])
    const who = spyOn(process, 'getuid').mockReturnValue((process.getuid?.() ?? 0) + 1)
    try {
      const own = statSync(path).uid
      const planted = `SECRET_KEY_FILE: ${path} was created by user ${own} in ${home}, which everyone can write to: use another folder ${example}`
      expect(problemOf(path)).toEqual(own === 0 ? [] : [planted])
    } finally {
      who.mockRestore()
    }
    if (process.getuid?.() !== 0) return
    chownSync(path, 65_534, 65_534)
    expect(problemOf(path)).toHaveLength(1)
    // The modes of a file that belongs to the machine's user and is mounted into a container.
    chmodSync(home, 0o755)
    expect(problemOf(path)).toEqual([])
  })
})

test('production accepts files', () => {
  const env = {
    SERVICE_SETTINGS: 'production',
    ALLOWED_HOSTS: 'vault.example.com',
    DB_HOST: 'db',
    DB_NAME: 'cloakroom',
    DB_USER: 'cloakroom',
  }
  const { DB_PASSWORD: __, ...rest } = VALUES
  expect(problemsOf({ ...env, ...rest, DB_PASSWORD_FILE: put('pass') })).toEqual([])
  expect(problemsOf({ ...env, ...rest })).toHaveLength(1)
})
