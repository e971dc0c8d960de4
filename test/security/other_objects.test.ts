// tier: quick
/**
 * An object store that gets a header or a body for another object than that of the path does not bypass a policy, and
 * no object can be created, or returned, so that a value in it is no longer recognised.
 */
import { afterAll, describe, expect, test } from 'bun:test'
import { createAgentWithToken, expectRefused, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { streamAs } from '../support/forward.ts'
import { answerOf } from '../support/upstream.ts'

const BLOBS = 'acct.blob.core.windows.net'
const stage = await sharedStage({ names: [BLOBS] })
afterAll(stage.stop)
const { upstream } = stage
const agent = await createAgentWithToken(stage, {
  domains: [stage.authorityOf(BLOBS), stage.authorityOf()],
  secrets: { AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE', AWS_SECRET_ACCESS_KEY: marked('wJalr') },
})
const paths = { policy: { allowed_paths: ['/pub'] } }
const writes = { policy: { allowed_methods: ['PUT' as const, 'POST' as const] } }
const deletes = { policy: { allowed_methods: ['POST' as const, 'DELETE' as const] } }
for (const [prefix, policy] of [
  ['PATHS', paths],
  ['WRITES', writes],
  ['DELETES', deletes],
] as const) {
  await agent.store(`${prefix}_ACCESS_KEY_ID`, 'AKIAIOSFODNN7LIMITED')
  await agent.store(`${prefix}_SECRET_ACCESS_KEY`, marked(prefix), policy)
}
const KEY = Buffer.from('the key of a storage account').toString('base64')
await agent.store('KEY', KEY)
await agent.store('PATHS_KEY', KEY, paths)

const s3 = (prefix: string, more: Record<string, string> = {}) => {
  const scope = `SVC_SECRET_${prefix}_ACCESS_KEY_ID/20261122/eu-central-1/s3/aws4_request`
  return {
    authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host;x-amz-date, Signature=00`,
    'x-amz-date': '20261122T000000Z',
    ...more,
  }
}
const azure = (name: string, more: Record<string, string> = {}) => ({
  authorization: `SharedKey acct:SVC_SECRET_${name}`,
  'x-ms-date': 'Sun, 22 Nov 2026 04:05:06 GMT',
  ...more,
})
const call = (method: string, path: string, headers: Record<string, string>) => ({
  target_url: stage.url(path, 'x-ms-date' in headers ? BLOBS : undefined),
  method,
  headers,
})
const expectSent = async (asked: ReturnType<typeof call>) => {
  const arrived = upstream.received.length
  expect((await agent.resolve(asked)).body).toMatchObject({ status_code: 200 })
  expect(upstream.received.length).toBe(arrived + 1)
}

describe('an object that a header names', () => {
  const refusal = (name: string) =>
    `The policy of the secret ${name} limits methods or paths, and a header of this request may override them.`
  const of = (headers: Record<string, string>) => Object.entries(headers)

  test.each(
    of({
      'x-amz-copy-source': '/secret/x',
      'X-Amz-Copy-Source-If-Match': '"a"',
      'x-amz-rename-source': '/secret/x',
      'x-goog-copy-source': '/secret/x',
      'x-oss-copy-source': '/secret/x',
      x_amz_copy_source: '/secret/x',
    }),
  )(
    'an object that a header names is rejected with a limited key of S3: %s',
    async (name, value) => {
      for (const prefix of ['PATHS', 'WRITES']) {
        const asked = call('PUT', '/pub/x', s3(prefix, { [name]: value }))
        await expectRefused(
          stage,
          agent,
          asked,
          'policy_blocked',
          refusal(`${prefix}_SECRET_ACCESS_KEY`),
        )
      }
      await expectSent(call('PUT', '/pub/x', s3('AWS', { [name]: value })))
    },
  )

  test.each(
    of({
      'x-ms-copy-source': 'https://acct.blob.core.windows.net/secret/x',
      'x-ms-rename-source': '/secret/x',
      'x-ms-file-rename-source': '/secret/x',
      'x-copy-from': '/secret/x',
    }),
  )(
    'an object that a header names is rejected with a limited key of Azure: %s',
    async (name, value) => {
      const asked = call('PUT', '/pub/x', azure('PATHS_KEY', { [name]: value }))
      await expectRefused(stage, agent, asked, 'policy_blocked', refusal('PATHS_KEY'))
      await expectSent(call('PUT', '/pub/x', azure('KEY', { [name]: value })))
    },
  )

  test('other headers of copies and uploads are unchanged', async () => {
    const more = { 'x-amz-metadata-directive': 'COPY', 'x-amz-website-redirect-location': '/y' }
    await expectSent(call('PUT', '/pub/x', s3('PATHS', more)))
    await expectSent(call('PUT', '/pub/x', azure('PATHS_KEY', { 'x-ms-blob-type': 'BlockBlob' })))
  })
})

describe('objects that a body names', () => {
  const refusal = (name: string) =>
    `The policy of the secret ${name} limits methods or paths, and the body of this request may name other objects.`

  test.each(['delete', 'delete=', 'delete=x', '%64elete', 'a=1&delete'])(
    'objects that a body names are not deleted with a limited key of S3: ?%s',
    async (query) => {
      for (const prefix of ['PATHS', 'WRITES']) {
        const asked = call('POST', `/pub?${query}`, s3(prefix))
        await expectRefused(
          stage,
          agent,
          asked,
          'policy_blocked',
          refusal(`${prefix}_SECRET_ACCESS_KEY`),
        )
      }
      await expectSent(call('POST', `/pub?${query}`, s3('DELETES')))
      await expectSent(call('POST', `/pub?${query}`, s3('AWS')))
    },
  )

  test.each(['comp=batch', 'Comp=Batch', 'restype=container&c%6fmp=batch'])(
    'objects that a body names are not requested in an Azure batch with a limited key: ?%s',
    async (query) => {
      const asked = call('POST', `/pub?${query}`, azure('PATHS_KEY'))
      await expectRefused(stage, agent, asked, 'policy_blocked', refusal('PATHS_KEY'))
      await expectSent(call('POST', `/pub?${query}`, azure('KEY')))
    },
  )

  test('objects are not read by a POST (S3 Select) with a key that may not read', async () => {
    const asked = (prefix: string) => call('POST', '/pub/x?select&select-type=2', s3(prefix))
    for (const prefix of ['WRITES', 'DELETES']) {
      const said = refusal(`${prefix}_SECRET_ACCESS_KEY`)
      await expectRefused(stage, agent, asked(prefix), 'policy_blocked', said)
    }
  })

  test('a part of a value is not computed from an object (S3 Select, Blob Query), with any key', async () => {
    const reason =
      'Objects cannot be queried (S3 Select, Blob Query): the result cannot be searched for credentials. Fetch the object.'
    const queries = ['select&select-type=2', 'select-type=2&%73elect=', 'Select&select&select-type']
    for (const asked of [
      ...queries.map((query) => call('POST', `/pub/x?${query}`, s3('AWS'))),
      call('POST', '/pub/x?select&select-type=2', s3('PATHS')),
      call('POST', '/pub/x?select&select-type=2', {}),
      call('POST', '/pub/x?Comp=%71uery', azure('KEY')),
    ]) {
      await expectRefused(stage, agent, asked, 'invalid_target', `${reason} target_url: ${reason}`)
    }
    await expectSent(call('GET', '/pub/x?select&select-type=2', s3('AWS')))
    await expectSent(call('POST', '/pub/x?select=name', s3('AWS')))
    await expectSent(call('POST', '/pub/x?comp=block', azure('KEY')))
  })

  test('other calls with a limited key are unchanged', async () => {
    await expectSent(call('POST', '/pub/x?uploads', s3('PATHS')))
    await expectSent(call('PUT', '/pub/x?comp=block', azure('PATHS_KEY')))
    await expectSent(call('GET', '/pub/x?delete', s3('PATHS')))
  })
})

describe('a part of a value in a new object', () => {
  test.each([
    ['x-amz-copy-source-range', s3('AWS', { 'x-amz-copy-source': '/b/x' })],
    ['x-goog-copy-source-range', s3('AWS', { 'x-goog-copy-source': '/b/x' })],
    [
      'x-ms-source-range',
      azure('KEY', { 'x-ms-copy-source': 'https://acct.blob.core.windows.net/b/x' }),
    ],
  ])('a part of a value is not copied by %s, and the whole object is', async (name, headers) => {
    const path = '/b/y?partNumber=1&uploadId=u'
    const asked = call('PUT', path, { ...headers, [name]: 'bytes=0-15' })
    const reason =
      'Part of an object cannot be copied because it cannot be searched for credentials. Copy the whole object (AWS CLI and SDKs: multipart_threshold = 5GB).'
    await expectRefused(stage, agent, asked, 'forbidden_header', `${reason} headers: ${reason}`)
    await expectSent(call('PUT', path, headers))
  })
})

describe('an Azure body with embedded checksums', () => {
  const structured = { 'x-ms-structured-body': 'XSM/1.0; properties=crc64' }

  test('embedded checksums are not requested, and can be uploaded', async () => {
    upstream.on('/b/up', answerOf(201, structured, ''))
    const reason =
      'The header x-ms-structured-body is not supported: its response cannot be searched for credentials.'
    const asked = call('GET', '/b/x', azure('KEY', structured))
    await expectRefused(stage, agent, asked, 'forbidden_header', `${reason} headers: ${reason}`)
    const uploaded = await agent.resolve(call('PUT', '/b/up', azure('KEY', structured)))
    expect(uploaded.body).toMatchObject({ status_code: 201 })
  })

  test('embedded checksums in an answer are rejected, whole or as a stream', async () => {
    upstream.on('/b/structured', answerOf(200, structured, 'half a value'))
    const asked = call('GET', '/b/structured', azure('KEY'))
    expect((await agent.resolve(asked)).body).toMatchObject({
      error_code: 'upstream_protocol_error',
    })
    const streamed = await streamAs(stage, agent, asked)
    expect(streamed.status).toBe(502)
  })
})
