// tier: quick
/** Empty values and names that affect programs are stored only after a person confirmed them, from any source. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sharedApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { openAccount, type Terminal } from './person.ts'

let app: TestApp
let ada: Terminal
let before: unknown

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@unusual.example')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', marked('KEPT=sk_kept_'))
  ada.write('empty.env', `OTHER=${marked('sk_other_')}\nKEPT=\n`)
  ada.write('empty.json', '{"OTHER":"x","KEPT":""}')
  before = await ada.json('secrets', 'list')
  ada.write('unsafe.env', 'OTHER=x\nPATH=/tmp\nLD_PRELOAD=/tmp/x.so\n')
})
afterAll(() => ada.remove())

const SOURCES: readonly [from: string, args: string[], stdin: string][] = [
  ['an argument', ['set', 'KEPT='], ''],
  ['standard input without bytes, such as /dev/null', ['set', 'KEPT', '--stdin'], ''],
  ['standard input with an empty line', ['set', 'KEPT', '--stdin'], '\n'],
  ['a dotenv file', ['set', '--from-file', 'empty.env'], ''],
  ['a JSON file', ['set', '--from-file', 'empty.json'], ''],
  ['a file on standard input', ['set', '--from-file', '-'], 'KEPT=\n'],
  ['an import', ['push', 'empty.env'], ''],
  ['a value for one person', ['set', 'KEPT=', '--mine'], ''],
]

describe('an empty value', () => {
  for (const [from, args, stdin] of SOURCES)
    test(`an empty value from ${from} is rejected, and replaces nothing`, async () => {
      const { code, out, err } = await ada.run(['secrets', ...args, '--json'], { stdin })
      expect([code, out]).toEqual([2, ''])
      expect(JSON.parse(err).error).toEqual({
        code: 'empty_value',
        message: '1 value would be empty: KEPT; nothing was stored',
        hint: 'check the source of the value, or pass --allow-empty to store it',
      })
    })

  test('an empty value was stored by none of the commands', async () => {
    expect(await ada.json('secrets', 'list')).toEqual(before)
    expect(await ada.reveal('secrets', 'get', 'KEPT')).toBe(marked('sk_kept_'))
  })

  test('an empty value is stored with --allow-empty, and pushed again without a question', async () => {
    const at = ['-e', 'staging']
    await ada.must('secrets', 'set', 'KEPT', '--stdin', '--allow-empty', ...at)
    expect(await ada.must('secrets', 'get', 'KEPT', ...at)).toBe('')
    ada.write('same.env', 'KEPT=\n')
    await ada.must('secrets', 'push', 'same.env', ...at)
  })
})

describe('a name that affects programs', () => {
  for (const [from, args, names] of [
    ['an argument', ['set', 'PATH=/tmp', 'LD_PRELOAD=/tmp/x.so'], ['PATH', 'LD_PRELOAD']],
    ['a file', ['set', '--from-file', 'unsafe.env'], ['PATH', 'LD_PRELOAD']],
    ['an import', ['push', 'unsafe.env'], ['PATH', 'LD_PRELOAD']],
    ['a value for one person', ['set', 'NODE_OPTIONS=--require=x', '--mine'], ['NODE_OPTIONS']],
    ['an import that allows one', ['push', 'unsafe.env', '--allow-env', 'PATH'], ['LD_PRELOAD']],
  ] as const)
    test(`a name that affects programs, from ${from}, is rejected with the option that stores it`, async () => {
      const { code, err } = await ada.run(['secrets', ...args, '--json'])
      const { error } = JSON.parse(err.trim().split('\n').at(-1) ?? '')
      expect([code, error.code]).toEqual([5, 'unsafe_variable'])
      expect(error.hint).toBe(
        `use another name, or confirm with ${names.map((name) => `--allow-env ${name}`).join(' ')}`,
      )
      for (const name of names) expect(error.message).toContain(`the variable ${name} `)
    })

  test('a name that affects programs was stored by none of the commands', async () => {
    expect(await ada.json('secrets', 'list')).toEqual(before)
  })

  test('a name that affects programs is stored with --allow-env, or if its policy keeps it out of environments', async () => {
    const at = ['-e', 'production']
    await ada.must(
      'secrets',
      'push',
      'unsafe.env',
      ...at,
      '--allow-env',
      'PATH',
      '--allow-env',
      'LD_PRELOAD',
    )
    const policy = '{"allowed_locations":["header"]}'
    await ada.must('secrets', 'set', 'EDITOR=x', '--policy', policy, ...at)
    const listed = (await ada.json('secrets', 'list', ...at)) as { key: string }[]
    expect(listed.map(({ key }) => key)).toEqual(['EDITOR', 'LD_PRELOAD', 'OTHER', 'PATH'])
  })
})
