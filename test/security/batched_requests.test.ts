// tier: quick
/** Requests inside a request do not bypass a policy that limits methods or paths. */
import { afterAll, describe, expect, test } from 'bun:test'
import { isForBatches } from '../../src/core/policy/override.ts'
import { createAgentWithToken, expectRefused, sharedStage } from '../support/agent.ts'

const stage = await sharedStage()
afterAll(stage.stop)
const agent = await createAgentWithToken(stage, { secrets: { FREE: 'value-free' } })
const [GET, POST] = ['GET' as const, 'POST' as const]
for (const [name, policy] of Object.entries({
  METHODS: { allowed_methods: [GET, POST] },
  PATHS: { allowed_paths: ['/v1', '/named'] },
  ROOT: { allowed_paths: ['/'] },
  NAMED: { allowed_methods: [POST], allowed_paths: ['/v1/$batch', '/named'] },
  HOSTS: { allowed_domains: [stage.authorityOf()] },
})) {
  await agent.store(name, `value-${name}`, { policy })
}

const MIXED = 'multipart/mixed; boundary=b'
const call = (name: string, path: string, type = 'application/json', method = 'POST') => ({
  target_url: stage.url(path),
  method,
  headers: { authorization: `Bearer SVC_SECRET_${name}`, 'Content-Type': type },
  ...(method === 'GET' ? {} : { body: '--b--' }),
})
const expectSent = async (asked: object) =>
  expect((await agent.resolve(asked)).body).toMatchObject({ status_code: 200 })
const expectBlocked = async (name: string, asked: object) => {
  const message = `The policy of the secret ${name} limits methods or paths, and this request may be a batch: list exactly this path in allowed_paths.`
  await expectRefused(stage, agent, asked, 'policy_blocked', message)
}

describe.each([
  ['a batch of OData', '/v1/$batch', 'application/json'],
  ['a batch of JSON', '/v1/batch', 'application/json'],
  ['a batch of Google, under any path', '/v1/drive/v3', MIXED],
  ['a multipart type in capitals', '/v1/x', 'Multipart/Mixed'],
])('%s', (_, path, type) => {
  test.each(['METHODS', 'PATHS', 'ROOT'])(
    'a batch is rejected with the secret %s',
    async (name) => {
      await expectBlocked(name, call(name, path, type))
    },
  )

  test('a batch is sent if the policy limits neither', async () => {
    for (const name of ['FREE', 'HOSTS']) await expectSent(call(name, path, type))
  })
})

test('a batch is sent only to the exact path that allowed_paths lists', async () => {
  await expectSent(call('NAMED', '/v1/$batch', MIXED))
  await expectSent(call('NAMED', '/named', MIXED))
  await expectSent(call('PATHS', '/named', MIXED))
  await expectBlocked('NAMED', call('NAMED', '/named/batch'))
  await expectBlocked('NAMED', call('NAMED', '/named/x', MIXED))
})

test('requests that are not a batch are sent: other parts, other names, and requests without a body', async () => {
  await expectSent(call('PATHS', '/v1/x', 'multipart/form-data; boundary=b'))
  for (const path of ['/v1/batches', '/v1/batch/7', '/v1/batch-jobs', '/v1/batch?batch=1']) {
    const method = path.includes('?') ? 'GET' : 'POST'
    await expectSent(call('PATHS', path, 'application/json', method))
  }
})

test('the last segment is read the way the most lenient server reads it', () => {
  for (const path of [
    '/$batch',
    '/v1/%24batch',
    '/v1/%2524batch',
    '/v1/BATCH',
    '/v1/batch/',
    '/v1/batch//',
    '/v1/batch;a=b',
    '/v1/batch.json',
    '/v1/$batch()',
    '/v1/x%2fbatch',
    '/v1/x%5cb%61tch%20',
    '/v1/ｂａｔｃｈ',
  ]) {
    expect([path, isForBatches(path)]).toEqual([path, true])
  }
})
