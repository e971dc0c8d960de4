// tier: all
/** A person's home on a full disk: a command reports it, and every file stays complete and unchanged. */
import { expect } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTerminal, PASSWORD, type Terminal } from '../cli/person.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { type Disk, makeDisk } from './disk.ts'

const { afterAll, beforeAll, test } = requires('mounts')

let app: TestApp
let ada: Terminal
let disk: Disk
let env: Record<string, string>
const at = (name: string) => join(disk.path, name)

beforeAll(async () => {
  app = await startTestApp()
  ada = await openTerminal(app)
  disk = makeDisk(4)
  mkdirSync(at('work'))
  const XDG = { XDG_CONFIG_HOME: at('config'), XDG_CACHE_HOME: at('cache') }
  env = { ...XDG, XDG_STATE_HOME: at('state') }
  const stdin = `${PASSWORD}\n`
  const register = ['register', 'ada@example.com', '--password-stdin', '--insecure-storage']
  expect(await run(register, stdin)).toMatchObject({ code: 0 })
  await must('init', 'payments')
  await must('secrets', 'set', `KEY=${marked('sk_live_full_home')}`)
  await must('secrets', 'set', `KEY=${marked('own_full_home')}`, '--mine')
  await must('secrets', 'pull', '.env')
  await must('config', 'environment', 'development')
  await must('run', '--no-mine', '--fallback', 'last', '--', 'true')
  await must('proxy', 'trust')
})
afterAll(async () => {
  disk.remove()
  ada.remove()
  await app.stop()
})

const run = (args: readonly string[], stdin = '') =>
  ada.run(args, { stdin, env, cwd: at('work'), reveals: true })

async function must(...args: string[]): Promise<void> {
  const ran = await run(args)
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.err}`)
}

/** Every file with its content and mode; locks of SQLite have none. */
function files(): Record<string, string> {
  const names = readdirSync(disk.path, { recursive: true, encoding: 'utf8' })
  const kept = names.filter((name) => statSync(at(name)).isFile() && name !== 'ballast')
  const written = kept.filter((name) => !/\.lock(-journal)?$|^cache\//.test(name)).sort()
  const seen = (name: string) => `${statSync(at(name)).mode} ${readFileSync(at(name)).toHex()}`
  return Object.fromEntries(written.map((name) => [name, seen(name)]))
}

async function onFullDisk<T>(work: () => Promise<T>): Promise<T> {
  disk.fill()
  try {
    return await work()
  } finally {
    disk.free()
  }
}

const COMMANDS: [what: string, code: number, said: RegExp, ...args: string[]][] = [
  [
    'the project file',
    2,
    /\.cloakroom\.json.*ENOSPC/,
    'config',
    'environment',
    'development',
    '--local',
  ],
  ['the global file', 2, /config\.json.*ENOSPC/, 'config', 'environment', 'staging'],
  ['own values', 2, /own-values.*ENOSPC/, 'secrets', 'set', 'KEY=another', '--mine'],
  ['a new .env', 2, /new\.env.*ENOSPC/, 'secrets', 'pull', 'new.env'],
  [
    'a fallback',
    0,
    /fallback was not written.*ENOSPC/,
    'run',
    '--no-mine',
    '--fallback',
    'last',
    '--',
    'true',
  ],
  ['the bundle of the proxy', 1, /bundle\.pem.*ENOSPC/, 'proxy', 'trust'],
]

test.each(COMMANDS)(
  'a failed write is reported, and the previous state is kept: %s',
  async (_, code, said, ...args) => {
    const before = files()
    const ran = await onFullDisk(() => run(args))
    expect(ran).toMatchObject({ code, err: expect.stringMatching(said) })
    expect(files()).toEqual(before)
    await must(...args)
  },
)

test('the previous .env stays complete, and the session opens the same values', async () => {
  await must('secrets', 'set', `KEY=${marked('sk_live_later')}`)
  const before = files()
  const ran = await onFullDisk(() => run(['secrets', 'pull', '.env', '--force']))
  expect(ran).toMatchObject({ code: 2, err: expect.stringMatching(/\.env.*ENOSPC/) })
  expect(files()).toEqual(before)
  expect(await onFullDisk(() => run(['project', 'list']))).toMatchObject({ code: 0 })
  await must('secrets', 'pull', '.env', '--force')
})

test('a proxy without an authority creates no partial one', async () => {
  rmSync(at('config/cloakroom/proxy'), { recursive: true })
  mkdirSync(at('config/cloakroom/proxy'))
  const before = files()
  const ran = await onFullDisk(() => run(['proxy', 'trust']))
  expect(ran).toMatchObject({ code: 1, err: expect.stringMatching(/ca\.key.*ENOSPC/) })
  expect(files()).toEqual(before)
  await must('proxy', 'trust')
})

test('an expired session that cannot be renewed on the full disk still exists once there is room', async () => {
  const path = at('config/cloakroom/session.json')
  const session = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...session, access: 'over' }))
  const ran = await onFullDisk(() => run(['project', 'list']))
  expect(ran).toMatchObject({ code: 2, err: expect.stringMatching(/session\.json.*ENOSPC/) })
  await must('project', 'list')
})
