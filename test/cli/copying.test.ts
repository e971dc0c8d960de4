// tier: all
/** Environments are created, copied and deleted; secrets are copied, deleted and restored. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { answering } from './answering.ts'
import { openAccount, type Terminal } from './person.ts'

const POLICY = { allowed_methods: ['GET'], description: 'reads' }
const VALUE = marked('sk_live_')

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await startTestApp()
  ada = await openAccount(app, 'ada@example.com')
  await ada.must('project', 'create', 'billing')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `STRIPE_KEY=${VALUE}`, '--policy', JSON.stringify(POLICY))
  await ada.must('secrets', 'set', 'MODE=test', 'PORT=8080', marked('OTHER='))
})
afterAll(async () => {
  ada.remove()
  await app.stop()
})

type Listed = { key: string; version: number; policy: unknown }
const listed = async (...args: string[]) =>
  ((await ada.json('secrets', 'list', ...args)) as Listed[]).map(({ key, version, policy }) => ({
    key,
    version,
    policy,
  }))
const names = async (...args: string[]) => (await listed(...args)).map(({ key }) => key)
const in_ = (environment: string) => ['-e', environment]

describe('env copy', () => {
  test('--dry-run lists the names of all changes and copies nothing', async () => {
    await ada.must('secrets', 'set', 'MODE=live', ...in_('staging'))
    const dry = ['env', 'copy', 'development', 'staging', '--dry-run']
    expect(await ada.json(...dry)).toEqual({
      added: ['OTHER', 'PORT', 'STRIPE_KEY'],
      changed: ['MODE'],
      same: [],
    })
    expect(await ada.must(...dry, '--only', 'MODE,PORT')).toBe(
      'KEY   CHANGE\nMODE  value\nPORT  new\n',
    )
    expect(await names(...in_('staging'))).toEqual(['MODE'])
  })

  test('env copy overwrites nothing without --force, and names the secrets that differ', async () => {
    const { code, out, err } = await ada.run(['env', 'copy', 'development', 'staging'])
    expect([code, out, err]).toEqual([
      5,
      '',
      'cloakroom: payments/staging has a different value or policy for MODE; nothing was copied (name_taken)\n→ --force overwrites them, and --dry-run shows all that would change\n',
    ])
    expect(await names(...in_('staging'))).toEqual(['MODE'])
  })

  test('env copy copies values, policies and kinds, and leaves equal secrets unchanged', async () => {
    const all = ['env', 'copy', 'development', 'staging', '--force']
    expect(await ada.json(...all)).toEqual({ created: 3, updated: 1, same: 0 })
    expect(await ada.json(...all)).toEqual({ created: 0, updated: 0, same: 4 })
    expect(await ada.reveal('secrets', 'get', 'STRIPE_KEY', ...in_('staging'))).toBe(VALUE)
    expect(await ada.must('secrets', 'get', 'MODE', ...in_('staging'))).toBe('test')
    expect(await listed(...in_('staging'))).toEqual([
      { key: 'MODE', version: 2, policy: { sensitive: false } },
      { key: 'OTHER', version: 1, policy: null },
      { key: 'PORT', version: 1, policy: { sensitive: false } },
      { key: 'STRIPE_KEY', version: 1, policy: POLICY },
    ])
    // A copied secret without a policy also removes the policy of its target.
    await ada.must(
      'secrets',
      'set',
      'OTHER=x',
      '--policy',
      JSON.stringify(POLICY),
      ...in_('staging'),
    )
    await ada.must(...all, '--only', 'OTHER')
    expect((await listed(...in_('staging')))[1]).toEqual({ key: 'OTHER', version: 3, policy: null })
  })

  test('env copy names missing references, except those that it copies too', async () => {
    await ada.must('env', 'create', 'refers')
    await ada.must('secrets', 'set', 'HOST=db', 'PASS=hunter2', '-e', 'refers')
    await ada.must('secrets', 'set', 'DSN=${PASS}@${HOST}', '--references', '-e', 'refers')
    await ada.must('env', 'create', 'all')
    await ada.must('env', 'create', 'one')
    expect((await ada.run(['env', 'copy', 'refers', 'all'])).err).toBe('')
    expect(
      (await ada.run(['env', 'copy', 'refers', 'one', '--only', 'DSN,HOST', '--yes'])).err,
    ).toBe('DSN refers to PASS, not in payments/one\n')
  })

  test('copying from a missing environment is an error that suggests similar names', async () => {
    const { code, err } = await ada.run(['env', 'copy', 'developmnt', 'production'])
    expect([code, err]).toEqual([
      4,
      'cloakroom: there is no environment developmnt in payments (not_found)\n→ is it development?\n',
    ])
    const itself = await ada.run(['env', 'copy', 'staging', 'staging'])
    expect([itself.code, itself.err]).toEqual([2, expect.stringContaining('to itself')])
  })

  test('env copy sends as many requests as storing the secrets needs', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 620 }, (_, index) => [`MANY_${index}`, `value ${index}`]),
    )
    ada.write('many.json', JSON.stringify(many))
    await ada.must('secrets', 'push', 'many.json', ...in_('many'))
    expect(await ada.json('env', 'copy', 'many', 'more', '--yes')).toEqual({
      created: 620,
      updated: 0,
      same: 0,
    })
    expect(await ada.must('secrets', 'get', 'MANY_619', ...in_('more'))).toBe('value 619')
  })
})

describe('secrets copy', () => {
  test('secrets copy copies the named secrets, to another environment or another project', async () => {
    const to = ['--to-project', 'billing']
    expect(await ada.json('secrets', 'copy', 'STRIPE_KEY', ...to)).toEqual({
      created: 1,
      updated: 0,
      same: 0,
    })
    expect(await ada.reveal('secrets', 'get', 'STRIPE_KEY', '-p', 'billing')).toBe(VALUE)
    await ada.must('secrets', 'copy', 'MODE', '--from', 'staging', '--to', 'production')
    expect(await names(...in_('production'))).toEqual(['MODE'])
  })

  test('secrets copy copies all named secrets, or none', async () => {
    const { code, err } = await ada.run(['secrets', 'copy', 'PORT', 'MOD', '--to', 'production'])
    expect([code, err]).toEqual([4, expect.stringContaining('is it MODE?')])
    expect(await names(...in_('production'))).toEqual(['MODE'])
    const nowhere = await ada.run(['secrets', 'copy', 'PORT'])
    expect([nowhere.code, nowhere.err]).toEqual([2, expect.stringContaining('--to')])
    const unknown = await ada.run(['secrets', 'copy', 'PORT', '--to-project', 'biling'])
    expect([unknown.code, unknown.err]).toEqual([4, expect.stringContaining('is it billing?')])
  })

  test('secrets copy rejects a policy that was altered in the database', async () => {
    await ada.must('secrets', 'set', 'ALTERED=it was', ...in_('altered'))
    await app.connection.sql`
      update secrets set policy = '{"allowed_methods":["GET"]}' where key = 'ALTERED'`
    const copying = ['secrets', 'copy', 'ALTERED', '--from', 'altered', '--to', 'production']
    const { code, err } = await ada.run([...copying, '--json'])
    expect([code, JSON.parse(err).error.code]).toEqual([5, 'unproven_policy'])
    expect(await names(...in_('production'))).toEqual(['MODE'])
  })
})

describe('an environment', () => {
  test('an environment can be created before it has secrets', async () => {
    await ada.must('env', 'create', 'preview')
    const { environments } = (await ada.json('env', 'list')) as {
      environments: Record<string, { secret_count: number }>
    }
    expect(environments.preview).toEqual({ secret_count: 0 })
    expect((await ada.run(['secrets', 'set', 'A=x', ...in_('preview')])).err).toBe('')
    const again = await ada.run(['env', 'create', 'preview'])
    expect([again.code, again.err]).toEqual([5, expect.stringContaining('already_exists')])
  })

  test('deleting an environment names the losses first, and its secrets can be restored', async () => {
    await ada.must('workload-token', 'issue', 'ci', ...in_('preview'))
    const { code, screen } = await answering(['env', 'delete', 'preview'], {
      cwd: ada.cwd,
      env: { HOME: ada.home, SERVICE_SERVER_URL: app.controlPlane },
      typed: [{ when: '(y/N)', type: 'n\r' }],
    })
    expect(code).toBe(5)
    expect(Bun.stripANSI(screen).replace(/\s+/g, '')).toContain(
      'Deletepreviewfrompaymentswith1secret(A)?Youcanrestoresecretsfor7days',
    )
    expect(await ada.json('env', 'delete', 'preview', '--yes')).toEqual({
      ...{ deleted: 'preview', secrets: 1, tokens: 1 },
    })
    const gone = await ada.run(['env', 'delete', 'preview', '--yes'])
    expect([gone.code, gone.err]).toEqual([4, expect.stringContaining('no environment preview')])
    await ada.must('secrets', 'undelete', '--all', ...in_('preview'))
    expect(await ada.must('secrets', 'get', 'A', ...in_('preview'))).toBe('x')
  })
})

test('the hint after env delete restores only the secrets of that deletion', async () => {
  const at = in_('purpose')
  await ada.must('secrets', 'set', 'OLD=x', 'ONE=x', 'TWO=x', ...at)
  await ada.must('secrets', 'delete', 'OLD', '--yes', ...at)
  const { out } = await ada.run(['env', 'delete', 'purpose', '--yes'])
  expect(out).toEndWith('; for 7 days: cloakroom secrets undelete ONE TWO -e purpose\n')
  const hint = out.slice(out.indexOf('secrets undelete')).trim().split(' ')
  expect(await ada.json(...hint)).toEqual({ restored: ['ONE', 'TWO'] })
  await ada.must('secrets', 'undelete', '--all', ...at)
  const other = await ada.run(['env', 'delete', 'purpose', '--yes'])
  expect(other.out).toEndWith('cloakroom secrets undelete --all -e purpose\n')
})

describe('a deleted secret', () => {
  test('no secret is deleted if one of the names does not exist', async () => {
    const at = in_('mistyped')
    await ada.must('secrets', 'set', 'HERE=x', 'ALSO=x', ...at)
    const one = await ada.run(['secrets', 'rm', 'HERE', 'HER', '--yes', ...at])
    expect([one.code, one.err]).toEqual([
      4,
      'cloakroom: there is no secret HER in payments/mistyped (not_found)\n→ is it HERE?\n',
    ])
    const two = await ada.run(['secrets', 'rm', 'HERE', 'NOPE', 'NEITHER', '--yes', ...at])
    expect([two.code, two.err]).toEqual([4, expect.stringContaining('no secrets NOPE, NEITHER in')])
    expect(await ada.json('secrets', 'list', ...at)).toHaveLength(2)
    const both = await ada.json('secrets', 'rm', 'HERE', 'ALSO', 'HERE', '--yes', ...at)
    expect(both).toEqual({ deleted: ['HERE', 'ALSO'] })
  })

  test('a deleted secret is listed and restored with its history', async () => {
    await ada.must('secrets', 'set', 'BACK=one', 'GONE=x', ...in_('deleted'))
    await ada.must('secrets', 'set', 'BACK=two', ...in_('deleted'))
    const { out } = await ada.run(['secrets', 'rm', 'BACK', 'GONE', '--yes', ...in_('deleted')])
    expect(out).toBe('2 deleted; for 7 days: cloakroom secrets undelete BACK GONE -e deleted\n')
    expect(await ada.json('secrets', 'undelete', ...in_('deleted'))).toEqual([
      { key: 'BACK', version: 2, deleted_at: expect.any(String) },
      { key: 'GONE', version: 1, deleted_at: expect.any(String) },
    ])
    expect(await ada.json('secrets', 'undelete', 'BACK', ...in_('deleted'))).toEqual({
      restored: ['BACK'],
    })
    expect(await ada.must('secrets', 'get', 'BACK', ...in_('deleted'))).toBe('two')
    expect(await ada.must('secrets', 'get', 'BACK', '--version', '1', ...in_('deleted'))).toBe(
      'one',
    )
  })

  test('undelete suggests similar names, and does not replace a secret that exists again', async () => {
    const missing = await ada.run(['secrets', 'undelete', 'GON', ...in_('deleted')])
    expect([missing.code, missing.err]).toEqual([
      4,
      'cloakroom: there is no secret GON that was deleted from payments/deleted in the last 7 days (not_found)\n→ is it GONE?\n',
    ])
    await ada.must('secrets', 'set', 'GONE=again', ...in_('deleted'))
    const taken = await ada.run(['secrets', 'undelete', 'GONE', ...in_('deleted')])
    const hint = '→ see its versions with: cloakroom secrets history GONE -e deleted\n'
    expect([taken.code, taken.err]).toEqual([
      5,
      expect.stringContaining(`cloakroom: GONE: already exists again (name_taken)\n${hint}`),
    ])
    expect(await ada.must('secrets', 'get', 'GONE', ...in_('deleted'))).toBe('again')
  })
})
