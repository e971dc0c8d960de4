// tier: quick
/**
 * A template of a cloned repository that names values its author would like to have: the program beside it reads the
 * resulting file. It gets the environment that the command selected, and no other.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { openAccount, type Terminal } from '../cli/person.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@stranger-template.example')
  await ada.must('init', 'bank')
  await ada.must('secrets', 'set', `ROOT_KEY=${marked('root')}`, '-p', 'bank', '-e', 'production')
  await ada.must('init', 'toy', '--yes')
  await ada.must('secrets', 'set', 'PORT=8080')
  await ada.must('secrets', 'set', `TOY_KEY=${marked('toy')}`, '-e', 'production')
})
afterAll(() => {
  ada.remove()
})

const inject = (...args: string[]) =>
  ada.run(['inject', '-i', 'app.tpl', '-o', 'app.conf', ...args])

test.each([
  ['another project', 'svc://bank/production/ROOT_KEY', 'bank/production'],
  ['another environment of the project', '{{ svc://toy/production/TOY_KEY }}', 'toy/production'],
])('a template that names %s fetches and writes nothing', async (_, reference, place) => {
  ada.write('app.tpl', `port={{ PORT }}\n${reference}\n`)
  const before = await ada.json('audit', 'list', '--limit', '500')
  expect(await inject()).toEqual({
    code: 5,
    out: '',
    err:
      `cloakroom: 2:1 ${reference} is in ${place}, which this command does not read (reference_elsewhere)\n` +
      `nothing was written\n→ to allow it: --from ${place}\n`,
  })
  // --force does not replace it, and naming one environment names no other.
  expect((await inject('--force', '--from', 'bank/development')).code).toBe(5)
  expect(existsSync(join(ada.cwd, 'app.conf'))).toBe(false)
  expect(await ada.json('audit', 'list', '--limit', '500')).toEqual(before)
  expect((await inject('--from', place, '--force')).code).toBe(0)
  await Bun.file(join(ada.cwd, 'app.conf')).delete()
})

test('a template that is a link out of the folder is not read', async () => {
  mkdirSync(join(ada.cwd, 'clone'))
  ada.write('outside', 'a file of mine')
  symlinkSync('../outside', join(ada.cwd, 'clone', 'app.tpl'))
  const cwd = join(ada.cwd, 'clone')
  const { code, out, err } = await ada.run(['inject', '-i', 'app.tpl'], { cwd })
  expect([code, out, err]).toEqual([
    2,
    '',
    expect.stringContaining('is a link to a file outside of this folder'),
  ])
})

test('a template cannot send escapes to the terminal by the names in it', async () => {
  ada.write('app.tpl', '{{ \u001b]0;owned\u0007 }} {{ \u202eA }}')
  const { code, err } = await inject()
  expect([code, err.includes('\u001b'), err.includes('\u202e')]).toEqual([2, false, false])
})
