// tier: quick
/** `secrets diff` opens both environments and lists the differences, without any value. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sharedApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { openAccount, type Terminal } from './person.ts'

const GET = '{"allowed_methods":["GET"]}'

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@diff.example')
  await ada.must('init', 'payments')
  const same = marked('SAME=sk_same_')
  const set = (environment: string, ...args: string[]) =>
    ada.must('secrets', 'set', ...args, '-e', environment)
  await set('development', same, marked('OTHER=sk_one_'), 'BOTH=first it', marked('OLD=sk_old_'))
  await set('production', same, marked('OTHER=sk_two_'), 'NEW=of today')
  await set('development', 'NARROW=as it was', '--policy', GET)
  await set('production', 'NARROW=as it was')
  await set('production', 'BOTH=second it', '--policy', GET)
})
afterAll(() => {
  ada.remove()
})

test('diff opens both environments and names the differences, never the values', async () => {
  const { code, out, err } = await ada.run(['secrets', 'diff', 'development', 'production'])
  expect([code, err]).toEqual([0, ''])
  expect(out.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['KEY', 'DIFFERENCE'],
    ['BOTH', 'value and policy'],
    ['NARROW', 'policy'],
    ['NEW', 'only in production'],
    ['OLD', 'only in development'],
    ['OTHER', 'value'],
    [''],
  ])
})

test('diff prints values only on request, and a sentence if nothing differs', async () => {
  const args = ['secrets', 'diff', 'development', 'production', '--show-values']
  const { code, out } = await ada.run(args, { reveals: true })
  expect(code).toBe(0)
  expect(out).toMatch(/^KEY +DIFFERENCE +DEVELOPMENT +PRODUCTION$/m)
  expect(out).toMatch(/^BOTH +value and policy +first it +second it$/m)
  expect(out).toMatch(/^NEW +only in production +- +of today$/m)
  expect(out).not.toContain('SAME')
  expect(await ada.must('secrets', 'diff', 'production', 'production')).toBe(
    'production and production are the same.\n',
  )
})

test('diff as JSON groups the names by their difference', async () => {
  expect(await ada.json('secrets', 'diff', 'development', 'production')).toEqual({
    from: 'development',
    to: 'production',
    in_from_only: ['OLD'],
    in_to_only: ['NEW'],
    in_both: ['BOTH', 'NARROW', 'OTHER', 'SAME'],
    same: ['SAME'],
    different_value: ['BOTH', 'OTHER'],
    different_policy: ['BOTH', 'NARROW'],
  })
})

test('diff --exit-code ends with 1 if there are differences and with 0 if there are none', async () => {
  const codeOf = async (...names: string[]) =>
    (await ada.run(['secrets', 'diff', ...names, '--exit-code'])).code
  expect(await codeOf('development', 'production')).toBe(1)
  expect(await codeOf('development', 'development')).toBe(0)
})

test('diff with a missing environment is an error that lists similar names', async () => {
  const ran = await ada.run(['secrets', 'diff', 'development', 'producton'])
  expect(ran).toEqual({
    code: 4,
    out: '',
    err: 'cloakroom: there is no environment producton in payments (not_found)\n→ is it production?\n',
  })
  // An environment that every project shows exists, although it is empty.
  expect(await ada.json('secrets', 'diff', 'staging', 'staging')).toMatchObject({ in_both: [] })
})
