// tier: quick
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sharedApp, type TestApp } from '../support/app.ts'
import { openAccount, type Terminal } from './person.ts'

const VALUE = 'value-that-no-message-shows'

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@suggestions.example')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `STRIPE_KEY=${VALUE}`, `DATABASE_URL=${VALUE}`)
  await ada.must('secrets', 'set', `STRIPE_KEY=${VALUE}`, `ONLY_THERE=${VALUE}`, '-e', 'staging')
})
afterAll(() => {
  ada.remove()
})

const missing = (name: string, hint: string, environment = 'development') => ({
  code: 4,
  out: '',
  err: `cloakroom: there is no secret ${name} in payments/${environment} (not_found)\n→ ${hint}\n`,
})

describe('a missing secret', () => {
  test('a missing secret is named with its project and environment', async () => {
    const ran = await ada.run(['secrets', 'get', 'NOPE'])
    expect(ran).toEqual(missing('NOPE', 'list the names with: cloakroom secrets list'))
  })

  test('every command suggests similar names for a missing secret', async () => {
    for (const args of [
      ['get', 'STRIPE_KYE'],
      ['history', 'STRIPE_KEYS'],
      ['rollback', 'STRIPE', '1'],
      ['delete', 'stripe_key', '--yes'],
    ]) {
      const ran = await ada.run(['secrets', ...args])
      expect({ args, ...ran }).toEqual({ args, ...missing(args[1] ?? '', 'is it STRIPE_KEY?') })
    }
  })

  test('the error names another environment that has the secret', async () => {
    const ran = await ada.run(['secrets', 'get', 'ONLY_THERE'])
    expect(ran).toEqual(missing('ONLY_THERE', 'it is in staging: choose one with -e'))
  })

  test('the error for a mistyped environment suggests the right one', async () => {
    const ran = await ada.run(['secrets', 'get', 'NOPE', '-e', 'devlopment'])
    const hint =
      'there are no secrets in devlopment (is it development?); there are some in development, staging'
    expect(ran).toEqual(missing('NOPE', hint, 'devlopment'))
  })

  test('a missing version is not reported as a missing secret', async () => {
    const { code, err } = await ada.run(['secrets', 'rollback', 'STRIPE_KEY', '99'])
    expect(code).toBe(4)
    expect(err).not.toContain('there is no secret')
  })
})

describe('an environment without secrets in a project with secrets', () => {
  const remark =
    'payments has no secrets in devlopment (is it development?); it has some in development (2), staging (2)'
  const refused = {
    code: 4,
    out: '',
    err: `cloakroom: ${remark} (empty_environment)\n→ choose one with -e, or continue without secrets with --allow-empty\n`,
  }

  test('the empty list has a remark that names environments with secrets', async () => {
    for (const [format, out] of [
      [[], '(none)\n'],
      [['--json'], '[]\n'],
    ] as const) {
      const ran = await ada.run(['secrets', 'list', '--env', 'devlopment', ...format])
      expect(ran).toEqual({ code: 0, out, err: `${remark}\n` })
    }
  })

  test('run refuses to start a command without secrets, unless --allow-empty is passed', async () => {
    const command = ['--', 'sh', '-c', 'echo started']
    expect(await ada.run(['run', '-e', 'devlopment', ...command])).toEqual(refused)
    const { code, out } = await ada.run(['run', '-e', 'devlopment', '--allow-empty', ...command])
    expect({ code, out }).toEqual({ code: 0, out: 'started\n' })
  })

  test('pull does not empty a file without --allow-empty and --force', async () => {
    ada.write('kept.env', 'KEPT=1\n')
    const read = () => readFileSync(join(ada.cwd, 'kept.env'), 'utf8')
    expect(await ada.run(['secrets', 'pull', 'kept.env', '-e', 'devlopment'])).toEqual(refused)
    expect(read()).toBe('KEPT=1\n')
    const emptied = ['secrets', 'pull', 'kept.env', '-e', 'devlopment', '--allow-empty']
    expect((await ada.run(emptied)).code).toBe(5)
    expect(read()).toBe('KEPT=1\n')
    await ada.must(...emptied, '--force')
    expect(read()).toBe('')
  })

  test('a project without secrets has no such remark', async () => {
    await ada.must('project', 'create', 'fresh')
    const options = ['-p', 'fresh', '-e', 'devlopment']
    expect(await ada.run(['secrets', 'list', ...options])).toEqual({
      code: 0,
      out: '(none)\n',
      err: '',
    })
    expect((await ada.run(['run', ...options, '--', 'true'])).code).toBe(0)
    expect((await ada.run(['secrets', 'pull', ...options])).code).toBe(0)
  })
})

test('no token is created or granted for an environment that does not exist', async () => {
  const at = ['-e', 'produktion']
  await ada.must('agent', 'create', 'careful')
  for (const args of [
    ['agent', 'create', 'other'],
    ['token', 'issue', 'careful'],
    ['token', 'grant', 'careful', 'default'],
    ['workload-token', 'issue', 'ci'],
  ]) {
    const { code, out, err } = await ada.run([...args, ...at])
    expect([args, code, out, err]).toEqual([
      args,
      4,
      '',
      expect.stringContaining('there is no environment produktion in '),
    ])
    expect(err).toContain('is it production?')
  }
  expect(await ada.json('token', 'list', 'careful')).toHaveLength(1)
  await ada.must('env', 'create', 'produktion')
  await ada.must('workload-token', 'issue', 'ci', ...at)
})

describe('env use', () => {
  const file = () => readFileSync(join(ada.cwd, '.cloakroom.json'), 'utf8')

  test('env use rejects an environment that does not exist, and names similar ones', async () => {
    const before = file()
    expect(await ada.run(['env', 'use', 'stagin'])).toEqual({
      code: 4,
      out: '',
      err: 'cloakroom: there is no environment stagin in payments (not_found)\n→ is it staging? add --yes to use stagin before it exists\n',
    })
    const { err } = await ada.run(['env', 'use', 'unlike'])
    expect(err).toContain('→ list them with: cloakroom env list; add --yes to use unlike')
    expect(file()).toBe(before)
  })

  test('env use accepts an environment that exists, and with --yes one that does not', async () => {
    await ada.must('env', 'use', 'staging')
    expect(JSON.parse(file())).toMatchObject({ environment: 'staging' })
    await ada.must('env', 'use', 'qa', '--yes')
    expect(JSON.parse(file())).toMatchObject({ environment: 'qa' })
    await ada.must('env', 'use', 'development')
  })
})
