// tier: all
/** Executes the blocks of the guides about secrets and access that their tours leave out. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { linesOf, scriptOf } from './blocks.ts'
import { openReader, type Reader } from './reader.ts'

let reader: Reader

beforeAll(async () => {
  reader = await openReader([])
}, 120_000)
afterAll(() => reader.stop())

test('secrets set asks for a value, reads a file as one value and reads a file of values', async () => {
  const { ada, type } = reader
  ada.write('tls.pem', 'first line\nsecond line\n')
  ada.write('.env', 'FROM_FILE=2\n')
  const [ask = '', ...others] = linesOf('docs/guides/secrets.md', 'set')
  await type(ask, [{ when: 'Value of ', type: 'sk_test_3\r' }])
  for (const line of others) await type(line)
  expect(JSON.parse(await ada.must('secrets', 'pull', '-', '--format', 'json'))).toEqual({
    STRIPE_KEY: 'sk_test_3',
    TLS_KEY: 'first line\nsecond line',
    FROM_FILE: '2',
  })
}, 60_000)

test('the project file of the access guide gives a new secret its policy', async () => {
  const { ada, type } = reader
  const file = scriptOf('docs/guides/access.md', 'file')
  mkdirSync(join(ada.cwd, 'clone'))
  ada.write('clone/.cloakroom.json', file)
  await type('cd clone && cloakroom secrets set NEW_KEY=new-value')
  const { policy } = (await ada.json('policy', 'show', 'NEW_KEY')) as { policy: unknown }
  expect(policy).toEqual(JSON.parse(file).policy)
}, 60_000)

test('a token for all projects can decrypt only the environment that is granted', async () => {
  const { ada, type } = reader
  const [create = '', grant = ''] = linesOf('docs/guides/access.md', 'grant')
  const [SERVICE_TOKEN = ''] = /svc_agt_\S+/.exec(await type(create)) ?? []
  const grants = async () => {
    const { out } = await ada.run(['whoami', '--json'], { env: { SERVICE_TOKEN } })
    return JSON.parse(out).grants
  }
  expect(await grants()).toEqual([])
  await type(grant)
  expect(await grants()).toEqual(['payments/production'])
}, 60_000)
