// tier: quick
/**
 * A cloned repository may contain links, and a file may have other names: the command line writes to a new file with
 * the right mode, and to no other.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { openAccount, type Terminal } from '../cli/person.ts'
import { sharedApp, type TestApp } from '../support/app.ts'

let app: TestApp
let ada: Terminal
let elsewhere: string

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@written-through-links.example')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', 'ONE_KEY=first value')
  elsewhere = join(ada.home, 'elsewhere')
  mkdirSync(elsewhere)
})
afterAll(() => {
  ada.remove()
})

const at = (...names: string[]) => join(ada.cwd, ...names)
const modeOf = (path: string) => statSync(path).mode & 0o777

describe('pull', () => {
  test.each([
    ['other content', 'MINE=1\n'],
    ['the same content', "ONE_KEY='first value'\n"],
  ])(
    'pull does not change another name of a file with %s, and makes the file private',
    async (_, text) => {
      writeFileSync(at('.env'), text)
      chmodSync(at('.env'), 0o666)
      rmSync(join(elsewhere, 'other-name'), { force: true })
      linkSync(at('.env'), join(elsewhere, 'other-name'))
      await ada.must('secrets', 'pull', '.env', '--force')
      expect([modeOf(at('.env')), statSync(at('.env')).nlink]).toEqual([0o600, 1])
      expect(readFileSync(join(elsewhere, 'other-name'), 'utf8')).toBe(text)
      await ada.must('secrets', 'set', 'ONE_KEY=first value')
    },
  )

  test('pull does not write through a folder that is a link out of the current one', async () => {
    symlinkSync(elsewhere, at('config'))
    const { code, err } = await ada.run(['secrets', 'pull', 'config/.env'])
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('config is a link to a file outside of this folder'),
    ])
    expect(existsSync(join(elsewhere, '.env'))).toBe(false)
  })

  test('inject and the fallback of run do not write through links either', async () => {
    ada.write('app.tpl', '{{ ONE_KEY }}')
    for (const args of [
      ['inject', '-i', 'app.tpl', '-o', 'config/made'],
      ['run', '--fallback', 'config/made', '--', 'true'],
    ]) {
      const { code, err } = await ada.run(args)
      expect([code, err]).toEqual([
        2,
        expect.stringContaining('config is a link to a file outside of this folder'),
      ])
    }
    expect(existsSync(join(elsewhere, 'made'))).toBe(false)
  })

  test('pull writes through a link that stays in the folder, and to any other named place', async () => {
    mkdirSync(at('real'))
    symlinkSync('real', at('alias'))
    await ada.must('secrets', 'pull', 'alias/.env')
    await ada.must('secrets', 'pull', join(elsewhere, 'named.env'))
    await ada.must('secrets', 'pull', '../elsewhere/relative.env')
    expect(existsSync(at('real', '.env'))).toBe(true)
    expect([modeOf(join(elsewhere, 'named.env')), modeOf(join(elsewhere, 'relative.env'))]).toEqual(
      [0o600, 0o600],
    )
  })
})

describe('the project file', () => {
  const inFolder = (name: string, target: string) => {
    mkdirSync(at(name))
    symlinkSync(target, at(name, '.cloakroom.json'))
    return (args: string[]) => ada.run(args, { cwd: at(name) })
  }

  test('a project file that is a link is neither read nor written, whatever its target', async () => {
    const precious = join(elsewhere, 'precious.json')
    writeFileSync(precious, '{}')
    const targets = { live: precious, dangling: join(elsewhere, 'made.json') }
    for (const [name, target] of Object.entries(targets)) {
      const run = inFolder(name, target)
      for (const args of [['link', 'payments'], ['env', 'use', 'staging', '--yes'], ['config']]) {
        const { code, err } = await run(args)
        expect([code, err]).toEqual([2, expect.stringContaining('.cloakroom.json is a link')])
      }
    }
    expect([readFileSync(precious, 'utf8'), existsSync(targets.dangling)]).toEqual(['{}', false])
  })

  test('a project file is written readable for everybody, in place of the old one', async () => {
    mkdirSync(at('usual'))
    writeFileSync(at('usual', '.cloakroom.json'), '{}')
    linkSync(at('usual', '.cloakroom.json'), join(elsewhere, 'project-file'))
    const { code } = await ada.run(['link', 'payments'], { cwd: at('usual') })
    expect([code, modeOf(at('usual', '.cloakroom.json'))]).toEqual([0, 0o644])
    expect(readFileSync(join(elsewhere, 'project-file'), 'utf8')).toBe('{}')
  })
})
