// tier: quick
/** Held secrets from the command line: set, shown, changed, copied and rekeyed, and left out of what programs get. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import type { Terminal } from './person.ts'
import { plainWorkspace, signedAccount } from './signed_person.ts'

const VALUE = marked('sk_live_held_')
const NEXT = marked('sk_live_next_')

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await startTestApp()
  ada = await signedAccount(app, 'ada@example.com')
  await ada.must('init', 'payments')
})
afterAll(async () => {
  ada.remove()
  await app.stop()
})

const policyOf = async (key: string, ...at: string[]) =>
  ((await ada.json('policy', 'show', key, ...at)) as { policy: unknown }).policy

const held = (by: string, ttl_seconds: number) => ({ approval: { by, ttl_seconds } })

test('a held secret is set, replaced, described in words and revealed to its owner', async () => {
  await ada.must('secrets', 'set', `NEW_KEY=${VALUE}`, '--approval', 'member')
  expect(await policyOf('NEW_KEY')).toEqual(held('member', 0))
  const { code, err } = await ada.run(['secrets', 'set', `NEW_KEY=${NEXT}`])
  expect([code, err]).toEqual([0, ''])
  expect(await policyOf('NEW_KEY')).toEqual(held('member', 0))
  expect(await ada.reveal('secrets', 'get', 'NEW_KEY')).toBe(NEXT)
  expect(await ada.must('secrets', 'list')).toContain('each use approved by a member')
  expect(await ada.must('policy', 'show', 'NEW_KEY')).toContain('each use approved by a member')
  expect(await ada.must('secrets', 'show', 'NEW_KEY')).toContain('each use approved by a member')
  await ada.must('policy', 'set', 'NEW_KEY', '--approval', 'admin', '--approval-ttl', '15m')
  expect(await policyOf('NEW_KEY')).toEqual(held('admin', 900))
  expect(await ada.must('policy', 'show', 'NEW_KEY')).toContain(
    'each use approved by an admin, for 15m at most',
  )
  await ada.must('policy', 'set', 'NEW_KEY', '--approval', 'member')
  expect(await policyOf('NEW_KEY')).toEqual(held('member', 900))
  await ada.must('policy', 'set', 'NEW_KEY', '--approval-ttl', '0s', '--domains', 'api.example.com')
  expect(await policyOf('NEW_KEY')).toEqual({
    ...held('member', 0),
    allowed_domains: ['api.example.com'],
  })
  await ada.must('secrets', 'rollback', 'NEW_KEY', '1', '--yes')
  expect(await ada.reveal('secrets', 'get', 'NEW_KEY')).toBe(VALUE)
})

test('an approval that is added to a secret prints the advice to replace its value', async () => {
  const advice = (key: string) =>
    `Tokens could decrypt ${key} until now. Rotate the value at its issuer, and store the new one: cloakroom secrets set ${key} -e development\nEarlier versions and deleted values of this name were removed.\n`
  await ada.must('secrets', 'set', `OLD_KEY=${VALUE}`, `SET_KEY=${VALUE}`, `JSON_KEY=${VALUE}`)
  await ada.must('secrets', 'set', `OLD_KEY=${NEXT}`)
  const changed = await ada.run(['policy', 'set', 'OLD_KEY', '--approval', 'member'])
  expect([changed.code, changed.err]).toEqual([0, advice('OLD_KEY')])
  expect(await ada.reveal('secrets', 'get', 'OLD_KEY')).toBe(NEXT)
  const versions = (await ada.json('secrets', 'history', 'OLD_KEY')) as unknown[]
  expect(versions).toHaveLength(1)
  const args = ['secrets', 'set', `SET_KEY=${VALUE}`, '--approval', 'member']
  expect((await ada.run(args)).err).toBe(advice('SET_KEY'))
  expect((await ada.run(args)).err).toBe('')
  const json = ['secrets', 'set', `JSON_KEY=${VALUE}`, '--policy']
  expect((await ada.run([...json, JSON.stringify(held('member', 0))])).err).toBe(advice('JSON_KEY'))
  await ada.must('policy', 'set', 'SET_KEY', '--approval', 'none')
  expect(await policyOf('SET_KEY')).toBeNull()
  const replaced = ['secrets', 'set', `SET_KEY=${NEXT}`, '--approval', 'member']
  expect((await ada.run(replaced)).err).toBe('')
})

test('a setting becomes a secret when it needs an approval', async () => {
  await ada.must('secrets', 'set', 'PORT=8080')
  expect(await policyOf('PORT')).toEqual({ sensitive: false })
  await ada.must('policy', 'set', 'PORT', '--approval', 'member')
  expect(await policyOf('PORT')).toEqual(held('member', 0))
  const { err } = await ada.run(['secrets', 'set', 'DEBUG=true', '--approval', 'admin'])
  expect(err).toBe('')
  expect(await policyOf('DEBUG')).toEqual(held('admin', 0))
})

test('policy clear keeps the approval unless it is named', async () => {
  const set = ['policy', 'set', 'CLEARED', '--approval', 'admin', '--domains', 'api.example.com']
  await ada.must('secrets', 'set', `CLEARED=${VALUE}`)
  await ada.must(...set)
  await ada.must('policy', 'clear', 'CLEARED')
  expect(await policyOf('CLEARED')).toEqual(held('admin', 0))
  await ada.must('policy', 'clear', 'CLEARED', 'approval')
  expect(await policyOf('CLEARED')).toBeNull()
  expect(await ada.reveal('secrets', 'get', 'CLEARED')).toBe(VALUE)
})

test('contradictory options of an approval are rejected before any request is sent', async () => {
  await ada.must('secrets', 'set', `PLACED=${VALUE}`)
  await ada.must('policy', 'set', 'PLACED', '--locations', 'header,env')
  const refused: [args: string[], message: string][] = [
    [['--approval', 'owner'], '--approval is member, admin or none, not owner'],
    [
      ['--approval', 'member', '--approval-ttl', '25h'],
      '--approval-ttl must be a time such as 15m',
    ],
    [['--approval', 'member', '--approval-ttl', '15'], '--approval-ttl must be a time such as 15m'],
    [['--approval-ttl', '15m'], 'PLACED needs no approval, so --approval-ttl has no effect'],
    [['--approval', 'none', '--approval-ttl', '1m'], 'has no effect with --approval none'],
    [['--approval', 'member'], 'allowed_locations cannot be combined with approval'],
  ]
  for (const [args, message] of refused) {
    const { code, err } = await ada.run(['policy', 'set', 'PLACED', ...args])
    expect({ args, code, err }).toEqual({ args, code: 2, err: expect.stringContaining(message) })
  }
  await ada.must('policy', 'set', 'PLACED', '--approval', 'member', '--locations', 'header')
  const { code, err } = await ada.run(['policy', 'set', 'PLACED', '--locations', 'env'])
  expect([code, err]).toEqual([2, expect.stringContaining('cannot be combined with approval')])
  for (const other of ['--plain', '--references', '--mine']) {
    const both = ['secrets', 'set', `X=${VALUE}`, '--approval', 'member', other]
    expect((await ada.run(both)).code).toBe(2)
  }
  const kind = ['secrets', 'set', 'ROOT={}', '--kind', 'oauth2', '--approval', 'member']
  expect(await ada.run(kind)).toMatchObject({
    code: 2,
    err: expect.stringContaining('kind cannot be combined with approval'),
  })
})

test('held secrets are copied, pushed, deleted, restored and rekeyed as held ones', async () => {
  const at = ['-e', 'moving']
  await ada.must('secrets', 'set', `MOVED=${VALUE}`, '--approval', 'member', ...at)
  await ada.must('secrets', 'set', `PLAIN=${VALUE}`, ...at)
  await ada.must('env', 'copy', 'moving', 'moved')
  expect(await policyOf('MOVED', '-e', 'moved')).toEqual(held('member', 0))
  expect(await ada.reveal('secrets', 'get', 'MOVED', '-e', 'moved')).toBe(VALUE)
  ada.write('.env', `MOVED=${NEXT}\nPLAIN=${VALUE}\n`)
  await ada.must('secrets', 'push', '.env', '--yes', ...at)
  expect(await policyOf('MOVED', ...at)).toEqual(held('member', 0))
  await ada.must('secrets', 'delete', 'MOVED', '--yes', ...at)
  await ada.must('secrets', 'undelete', 'MOVED', ...at)
  await ada.must('workspace', 'rekey', '--yes')
  expect(await ada.reveal('secrets', 'get', 'MOVED', ...at)).toBe(NEXT)
  expect(await ada.reveal('secrets', 'get', 'MOVED', '-e', 'moved')).toBe(VALUE)
  expect(await ada.must('secrets', 'diff', 'moving', 'moved')).toContain('MOVED')
})

test('run and inject omit held secrets, and print the reason once', async () => {
  const at = ['-e', 'running']
  await ada.must('secrets', 'set', `HELD=${VALUE}`, '--approval', 'member', ...at)
  await ada.must('secrets', 'set', 'GIVEN=yes', ...at)
  const print = ['sh', '-c', 'echo "[$HELD][$GIVEN]"']
  const note =
    'omitted, because each use needs an approval: HELD. Use `cloakroom call`, or the proxy with --remote.\n'
  const bySession = await ada.run(['run', ...at, '--', ...print])
  expect(bySession).toEqual({ code: 0, out: '[][yes]\n', err: note })
  const issued = (await ada.json('workload-token', 'issue', 'ci', ...at)) as { token: string }
  const byToken = await ada.run(['run', ...at, '--token', issued.token, '--', ...print])
  expect(byToken).toEqual({ code: 0, out: '[][yes]\n', err: note })
  ada.write('template', 'key: {{ HELD }}\n')
  const injected = await ada.run(['inject', '-i', 'template', ...at])
  expect(injected.code).not.toBe(0)
  expect(injected.err).toContain('needs an approval for each use')
  await ada.must('secrets', 'set', 'URL=https://${GIVEN}/', '--references', ...at)
  const refers = ['secrets', 'set', 'URL=https://${HELD}/', '--references', ...at]
  expect(await ada.run(refers)).toMatchObject({
    err: expect.stringContaining('URL refers to HELD, which needs approval for each use'),
  })
})

test('an approval is rejected in a workspace that is not signed', async () => {
  await plainWorkspace(app, 'ada@example.com', 'Plain')
  const at = ['-w', 'Plain', '-p', 'plain']
  await ada.must('project', 'create', 'plain', '-w', 'Plain')
  const set = ['secrets', 'set', `KEY=${VALUE}`, '--approval', 'member', ...at]
  const { code, err } = await ada.run(set)
  expect(code).not.toBe(0)
  expect(err).toContain('KEY.policy.approval')
  expect(err).toContain('needs a signed workspace')
})
