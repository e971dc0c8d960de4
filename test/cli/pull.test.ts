// tier: quick
/**
 * `secrets pull` writes values: it overwrites nothing by accident, only the owner can read the file, and its name
 * selects the format.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { sharedApp, type TestApp } from '../support/app.ts'
import { answering } from './answering.ts'
import { openAccount, type Terminal } from './person.ts'

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@pull.example')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', 'ONE_KEY=first value')
})
afterAll(() => {
  ada.remove()
})

const at = (name: string) => join(ada.cwd, name)
const read = (name: string) => readFileSync(at(name), 'utf8')
const pull = (...args: string[]) => ada.run(['secrets', 'pull', ...args])
const modeOf = (name: string) => statSync(at(name)).mode & 0o777

test('a file with other content is kept, unless --force or --yes is passed', async () => {
  ada.write('.env', 'MINE=1\n')
  expect(await pull('.env')).toEqual({
    code: 5,
    out: '',
    err: 'cloakroom: .env exists with different content; nothing was written (file_exists)\n→ replace it with --force, or give another file\n',
  })
  expect(read('.env')).toBe('MINE=1\n')
  for (const option of ['--force', '-f', '--yes']) {
    ada.write('.env', 'MINE=1\n')
    expect((await pull('.env', option)).code).toBe(0)
    expect([read('.env'), modeOf('.env')]).toEqual(["ONE_KEY='first value'\n", 0o600])
  }
  expect(readdirSync(ada.cwd).filter((name) => name.startsWith('.env'))).toEqual(['.env'])
})

test('a file with the same content needs no question, and becomes readable by its owner only', async () => {
  await pull('.env', '--force')
  chmodSync(at('.env'), 0o644)
  const again = await ada.json('secrets', 'pull', '.env')
  expect([again, modeOf('.env')]).toEqual([{ file: '.env', secrets: 1, changed: false }, 0o600])
})

test('a terminal gets a question, and an answer other than yes keeps the file', async () => {
  const env = { HOME: ada.home, SERVICE_SERVER_URL: app.controlPlane }
  const asked = (type: string) =>
    answering(['secrets', 'pull', '.env'], {
      cwd: ada.cwd,
      env,
      typed: [{ when: 'Replace .env?', type }],
    })
  ada.write('.env', 'MINE=1\n')
  expect((await asked('\r')).code).toBe(5)
  expect(read('.env')).toBe('MINE=1\n')
  expect((await asked('y\r')).code).toBe(0)
  expect(read('.env')).toContain('ONE_KEY')
})

test('pull - and inject -o - print, and create no file', async () => {
  const printed = { code: 0, out: "ONE_KEY='first value'\n" }
  expect(await pull('-')).toMatchObject(printed)
  ada.write('one.tpl', 'is {{ ONE_KEY }}\n')
  const injected = await ada.run(['inject', '-i', 'one.tpl', '-o', '-'])
  expect(injected).toMatchObject({ code: 0, out: 'is first value\n' })
  expect(readdirSync(ada.cwd)).not.toContain('-')
})

test('a link is not followed, whatever its target', async () => {
  ada.write('elsewhere', 'MINE=1\n')
  for (const target of [at('elsewhere'), at('nowhere')]) {
    rmSync(at('link.env'), { force: true })
    symlinkSync(target, at('link.env'))
    const { code, err } = await pull('link.env', '--force')
    expect([code, err.split('\n')[0]]).toEqual([
      2,
      'cloakroom: link.env is a link; nothing was written (invalid_file)',
    ])
  }
  expect([read('elsewhere'), readdirSync(ada.cwd).includes('nowhere')]).toEqual(['MINE=1\n', false])
})

test('the file name determines the format, --format wins, and a contradiction is reported', async () => {
  await pull('x.json')
  expect(JSON.parse(read('x.json'))).toEqual({ ONE_KEY: 'first value' })
  await pull('x.yml')
  expect(read('x.yml')).toBe('ONE_KEY: "first value"\n')
  await pull('x.sh')
  expect(read('x.sh')).toContain("export ONE_KEY='first value'")
  await pull('.env.local')
  expect(read('.env.local')).toBe("ONE_KEY='first value'\n")
  await pull('x.txt')
  expect(read('x.txt')).toBe("ONE_KEY='first value'\n")
  expect(await pull('y.json', '--format', 'dotenv')).toMatchObject({
    code: 0,
    err: 'y.json is written as dotenv, although its extension means json\n',
  })
  expect(read('y.json')).toBe("ONE_KEY='first value'\n")
  expect(await pull('z.json', '--format', 'json')).toMatchObject({ code: 0, err: '' })
})
