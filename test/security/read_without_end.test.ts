// tier: all
/**
 * A command's input may be a pipe, a device or a link that came with a repository: the command ends with an error
 * instead of waiting or reading forever, and follows no link out of the folder.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAccount, type Terminal } from '../cli/person.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { watched } from '../support/watched.ts'

let app: TestApp
let ada: Terminal
let folders = 0

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@read-without-end.example')
  await ada.must('init', 'payments')
})
afterAll(() => {
  ada.remove()
})

const MAKERS: Record<string, (path: string) => void> = {
  'a pipe': (path) => void watched(Bun.spawnSync(['mkfifo', path])),
  'a link to a device': (path) => symlinkSync('/dev/zero', path),
  'a folder': (path) => mkdirSync(path),
  'a file without end': (path) => {
    writeFileSync(path, '')
    truncateSync(path, 3 * 2 ** 30)
  },
}
const ORDERS: [file: string, args: string[]][] = [
  ['.cloakroom.json', ['config']],
  ['.cloakroom.json', ['link', 'payments']],
  ['.env', ['secrets', 'push']],
  ['in.json', ['secrets', 'set', '--from-file', 'in.json']],
  ['body', ['call', 'https://a.example/', '-d', '@body', '--token', 'x']],
  ['.env', ['secrets', 'pull', '.env', '--force']],
]
const cases = Object.keys(MAKERS).flatMap((what) =>
  ORDERS.map(([file, args]) => [args.join(' '), what, file, args] as const),
)

test.each(cases)('%s ends if %s is in the place of the file', async (_, what, file, args) => {
  const cwd = join(ada.cwd, `folder-${++folders}`)
  mkdirSync(cwd)
  MAKERS[what]?.(join(cwd, file))
  const { code, err } = await ada.run([...args, '-p', 'payments'], { cwd })
  const isReplaced = what === 'a file without end' && args[1] === 'pull'
  expect([code, /not a regular file|is a folder|is a link|too long/.test(err)]).toEqual(
    isReplaced ? [0, false] : [2, true],
  )
})

test('a link out of the folder is not read, and one within it is', async () => {
  const cwd = join(ada.cwd, 'links')
  mkdirSync(cwd)
  writeFileSync(join(ada.home, 'private.env'), 'MINE_KEY=value of mine\n')
  writeFileSync(join(cwd, 'real.env'), 'OURS_KEY=our value\n')
  symlinkSync('../../private.env', join(cwd, '.env'))
  symlinkSync('real.env', join(cwd, 'alias.env'))
  const push = (name: string) => ada.run(['secrets', 'push', name, '-p', 'payments'], { cwd })
  expect(await push('.env')).toMatchObject({
    code: 2,
    err: expect.stringContaining(
      '.env is a link to a file outside of this folder, so it is not followed',
    ),
  })
  expect((await push('../../private.env')).code).toBe(0)
  expect((await push('alias.env')).code).toBe(0)
})

// A shell makes the pipe that the executable inherits.
test('standard input and a process substitution <(command) are read', async () => {
  const given = "cloakroom secrets set --from-file <(printf 'P_KEY=of a pipe') -p payments"
  expect((await ada.shell(given)).code).toBe(0)
  expect((await ada.shell(`printf 'S_KEY=of stdin' | ${given.replace(/<\(.*\)/, '-')}`)).code).toBe(
    0,
  )
})
