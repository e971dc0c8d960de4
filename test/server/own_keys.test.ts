// tier: quick
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, readConfig } from '../../src/core/config/config.ts'
import { CLUSTER, KEYS_FILE } from '../../src/database/embedded/data_directory.ts'
import { generateKeys, readOwnKeys } from '../../src/operator/own_keys.ts'
import { watched } from '../support/watched.ts'

let home: string
let notices: string[]

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cr-keys-'))
  notices = []
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const read = (directory = home) => readOwnKeys(directory, (text) => notices.push(text))

test('keys are created once, readable by their owner only, and the output names their file', () => {
  const directory = join(home, 'deep', 'data')
  const first = read(directory)
  expect(read(directory)).toEqual(first)
  const file = join(directory, KEYS_FILE)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(directory).mode & 0o777).toBe(0o700)
  expect(readdirSync(directory)).toEqual([KEYS_FILE])
  expect(notices).toHaveLength(1)
  expect(notices[0]).toContain(file)
  for (const key of Object.values(first)) expect(notices[0]).not.toContain(key)
})

test('an unreadable key file is reported in one line, with its owner', () => {
  mkdirSync(join(home, KEYS_FILE))
  expect(() => read()).toThrow(ConfigError)
  expect(() => read()).toThrow(
    `${join(home, KEYS_FILE)} cannot be read (EISDIR): it belongs to user`,
  )
})

test('the configuration accepts the generated keys', () => {
  const keys = generateKeys()
  expect(readConfig(keys, generateKeys)).toMatchObject(keys)
  expect(generateKeys()).not.toEqual(keys)
})

test('two servers that start at the same time have the same keys', async () => {
  const script = `
    import { readOwnKeys } from ${JSON.stringify(join(import.meta.dir, '../../src/operator/own_keys.ts'))}
    console.log(JSON.stringify(readOwnKeys(${JSON.stringify(home)}, () => {})))`
  const run = async () => {
    const child = watched(Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' }))
    return (await new Response(child.stdout).text()).trim()
  }
  const outputs = await Promise.all(Array.from({ length: 4 }, run))
  expect(outputs[0]).toContain('ENCRYPTION_KEY')
  expect(new Set(outputs).size).toBe(1)
  expect(readdirSync(home)).toEqual([KEYS_FILE])
}, 30_000)

describe('keys of an existing database', () => {
  test('missing keys of an existing database are never replaced', () => {
    mkdirSync(join(home, CLUSTER))
    expect(() => read()).toThrow(ConfigError)
    expect(readdirSync(home)).toEqual([CLUSTER])
  })

  test.each(['', 'SECRET_KEY=a', 'ENCRYPTION_KEY=a', 'garbage', 'SECRET_KEY=\nENCRYPTION_KEY=\n'])(
    'invalid keys of an existing database are never repaired: %j',
    (text) => {
      writeFileSync(join(home, KEYS_FILE), text)
      expect(() => read()).toThrow(ConfigError)
      expect(readFileSync(join(home, KEYS_FILE), 'utf8')).toBe(text)
    },
  )
})
