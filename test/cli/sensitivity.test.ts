// tier: all
/** Settings and secrets: how set, import and push classify values, and the effect on `run`. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sharedApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { answering } from './answering.ts'
import { openAccount, type Terminal } from './person.ts'

const KEY = marked('sk_live_sensitive_1')

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@sensitivity.example')
  await ada.must('init', 'payments')
})
afterAll(() => {
  ada.remove()
})

type Listed = { key: string; policy: { sensitive?: false } | null }

async function policiesOf(environment: string): Promise<Record<string, unknown>> {
  const listed = (await ada.json('secrets', 'list', '-e', environment)) as Listed[]
  return Object.fromEntries(listed.map(({ key, policy }) => [key, policy]))
}

const SETTING = { sensitive: false }
const FILE = `PORT=8080\nDEBUG=true\nLOG_LEVEL=info\nAPI_URL=https://api.example.com/v1\nAPI_KEY=${KEY}\n`
const EXPECTED = {
  PORT: SETTING,
  DEBUG: SETTING,
  LOG_LEVEL: SETTING,
  API_URL: SETTING,
  API_KEY: null,
}
const SAID =
  'as settings, not masked: PORT, DEBUG, LOG_LEVEL, API_URL (--sensitive stores secrets)\n'

test('set, import and push distinguish settings from secrets, and report the kind', async () => {
  ada.write('in.env', FILE)
  const pairs = FILE.trim().split('\n')
  for (const [name, args] of [
    ['of-set', ['set', ...pairs]],
    ['of-import', ['set', '--from-file', 'in.env']],
    ['of-push', ['push', 'in.env']],
  ] as const) {
    const { code, err } = await ada.run(['secrets', ...args, '-e', name])
    expect([code, err]).toEqual([0, `${SAID}${name} is a new environment of payments\n`])
    expect(await policiesOf(name)).toEqual(EXPECTED)
  }
})

test('the list has the kind of each value, and values are returned unchanged', async () => {
  const { out } = await ada.run(['secrets', 'list', '-e', 'of-set'])
  const rows = out.split('\n').map((line) => line.split(/\s+/).slice(0, 2))
  expect(rows).toContainEqual(['PORT', 'setting'])
  expect(rows).toContainEqual(['API_KEY', 'secret'])
  expect(await ada.reveal('secrets', 'get', 'PORT', '-e', 'of-set')).toBe('8080')
})

test('--sensitive and --plain set the kind for all values, and exclude each other', async () => {
  await ada.must('secrets', 'set', 'PORT=8080', '--sensitive', '-e', 'said')
  await ada.must('secrets', 'set', 'GREETING=hello there', '--plain', '-e', 'said')
  expect(await policiesOf('said')).toEqual({ PORT: null, GREETING: SETTING })
  await ada.must('secrets', 'set', 'PORT=8081', '--plain', '-e', 'said')
  await ada.must('secrets', 'set', 'GREETING=hello again', '--sensitive', '-e', 'said')
  expect(await policiesOf('said')).toEqual({ PORT: SETTING, GREETING: null })
  const both = await ada.run(['secrets', 'set', 'A=1', '--plain', '--sensitive', '-e', 'said'])
  expect([both.code, both.err]).toEqual([2, expect.stringContaining('exclude each other')])
})

test('push with either option changes the kind of unchanged values', async () => {
  ada.write('kind.env', 'GREETING=hello\nPORT=8080\n')
  await ada.must('secrets', 'push', 'kind.env', '--sensitive', '-e', 'kind')
  expect(await policiesOf('kind')).toEqual({ GREETING: null, PORT: null })
  const again = await ada.json('secrets', 'push', 'kind.env', '-e', 'kind')
  expect(again).toEqual({ created: 0, updated: 0 })
  await ada.must('secrets', 'push', 'kind.env', '--plain', '-e', 'kind')
  expect(await policiesOf('kind')).toEqual({ GREETING: SETTING, PORT: SETTING })
  const { err } = await ada.run(['secrets', 'push', 'kind.env', '-e', 'kind'])
  expect([err, await policiesOf('kind')]).toEqual(['', { GREETING: SETTING, PORT: SETTING }])
})

test('a stored value keeps its kind, but a setting whose new value looks like a secret becomes one', async () => {
  const at = ['-e', 'stored']
  await ada.must('secrets', 'set', 'PORT=8080', 'MODE=live', ...at)
  await ada.must('secrets', 'set', 'KEPT=8080', '--sensitive', ...at)
  await ada.must('secrets', 'set', 'PORT=9090', 'KEPT=9090', ...at)
  expect(await policiesOf('stored')).toEqual({ PORT: SETTING, MODE: SETTING, KEPT: null })
  const { err } = await ada.run(['secrets', 'set', `MODE=${KEY}`, ...at])
  expect(err).toBe('no longer settings, masked from now on: MODE (--plain keeps settings)\n')
  expect(await policiesOf('stored')).toEqual({ PORT: SETTING, MODE: null, KEPT: null })
})

test('a policy counts as it was written, and keeps its other fields', async () => {
  const at = ['-e', 'policy']
  const policy = { allowed_methods: ['GET'] }
  await ada.must('secrets', 'set', 'PORT=8080', '--policy', JSON.stringify(policy), ...at)
  expect(await policiesOf('policy')).toEqual({ PORT: policy })
  await ada.must('secrets', 'set', 'PORT=8081', '--plain', ...at)
  expect(await policiesOf('policy')).toEqual({ PORT: { ...policy, ...SETTING } })
  await ada.must('secrets', 'set', `PORT=${KEY}`, ...at)
  expect(await policiesOf('policy')).toEqual({ PORT: policy })
  await ada.must('secrets', 'set', 'WORD=x', '--policy', JSON.stringify(SETTING), ...at)
  expect(await policiesOf('policy')).toEqual({ PORT: policy, WORD: SETTING })
})

test('a value from a hidden prompt is a secret', async () => {
  await ada.run(['secrets', 'set', 'DIGITS', '--stdin', '-e', 'hidden'], { stdin: '4821\n' })
  await answering(['secrets', 'set', 'TYPED', '-e', 'hidden', '--yes'], {
    cwd: ada.cwd,
    env: { HOME: ada.home, SERVICE_SERVER_URL: app.controlPlane },
    typed: [{ when: 'Value of TYPED', type: '4821\r' }],
  })
  expect(await policiesOf('hidden')).toEqual({ DIGITS: null, TYPED: null })
})

test('run masks secrets and prints settings, with a session and with a token', async () => {
  const at = ['-e', 'of-set']
  const { token } = (await ada.json('workload-token', 'issue', 'ci', ...at)) as { token: string }
  const script =
    'echo "{\\"ok\\":$DEBUG,\\"port\\":$PORT,\\"url\\":\\"$API_URL\\"}"; echo "key $API_KEY" >&2'
  for (const env of [{}, { SERVICE_TOKEN: token }]) {
    const { code, out, err } = await ada.run(['run', ...at, '--', 'sh', '-c', script], { env })
    expect([code, out, err]).toEqual([
      0,
      '{"ok":true,"port":8080,"url":"https://api.example.com/v1"}\n',
      'key [REDACTED]\n[REDACTED] replaces secrets in this output. Pass --no-mask to keep values.\n',
    ])
  }
})

test('a megabyte is masked in a moment, although there are 2,000 secrets', async () => {
  const values = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, index) => [`KEY_${index}`, `${KEY}_${Bun.hash(`${index}`)}`]),
  )
  ada.write('many.json', JSON.stringify(values))
  await ada.must('secrets', 'set', '--from-file', 'many.json', '-e', 'many')
  const large = '{"ok":true,"port":8080,"name":"ordinary"}\n'.repeat(25_000)
  ada.write('large.txt', large)
  const timed = async (...command: string[]) => {
    const started = performance.now()
    const { out } = await ada.run(['run', '-e', 'many', '--', ...command])
    return { out, took: performance.now() - started }
  }
  const { took: base } = await timed('true')
  const { out, took } = await timed('cat', 'large.txt')
  expect(out === large).toBe(true)
  expect(took - base).toBeLessThan(5_000)
})
