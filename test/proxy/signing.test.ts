// tier: quick
/** AWS clients with stand-ins of an access key, behind either proxy: the upstream gets the real signature. */
import { afterAll, describe, expect, test } from 'bun:test'
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import fc from 'fast-check'
import { marked } from '../support/canary.ts'
import { forwardAs } from '../support/forward.ts'
import { answerOf } from '../support/upstream.ts'
import { openProxyStage } from './stage.ts'

const stage = await openProxyStage()
afterAll(stage.stop)
const { agent, upstream } = stage

const ID = 'AKIAIOSFODNN7EXAMPLE'
const SECRET = marked('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY')
const READ_ONLY = { policy: { allowed_methods: ['GET' as const], allowed_paths: ['/open'] } }
await agent.store('AWS_ACCESS_KEY_ID', ID, { policy: { allowed_locations: ['header', 'query'] } })
await agent.store('AWS_SECRET_ACCESS_KEY', SECRET)
await agent.store('READ_ACCESS_KEY_ID', 'AKIAIOSFODNN7READING')
await agent.store('READ_SECRET_ACCESS_KEY', marked('reading'), READ_ONLY)
upstream.on('/echo', ({ header }, wire) => {
  wire.write(answerOf(200, { 'content-type': 'text/plain' }, header('authorization') ?? 'none'))
})

const proxies = {
  local: await stage.open('local', { standIns: true }),
  remote: await stage.open('remote', { standIns: true }),
}
const last = () => upstream.received.at(-1)

type Keys = { accessKeyId: string; secretAccessKey: string }
type Asked = {
  method: string
  path: string
  service?: string
  headers?: Record<string, string>
  body?: string
}

const requestOf = ({ method, path, headers = {}, body }: Asked) => ({
  method,
  protocol: 'https:',
  hostname: stage.authorityOf(),
  path,
  headers: { host: stage.authorityOf(), ...headers },
  body,
})

const signerOf = (service: string, credentials: Keys) =>
  new SignatureV4({
    service,
    region: 'eu-central-1',
    sha256: Sha256,
    uriEscapePath: service !== 's3',
    applyChecksum: service === 's3',
    credentials,
  })

const signingDate = new Date()
const signedBy = (keys: Keys, asked: Asked) =>
  signerOf(asked.service ?? 's3', keys).sign(requestOf(asked), { signingDate })

describe.each(Object.entries(proxies))(
  'behind the %s proxy',
  (_, { baseUrl, certificate, standIns, url }) => {
    const keysOf = (prefix: string): Keys => ({
      accessKeyId: standIns[`${prefix}_ACCESS_KEY_ID`] ?? '',
      secretAccessKey: standIns[`${prefix}_SECRET_ACCESS_KEY`] ?? '',
    })
    const real = { accessKeyId: ID, secretAccessKey: SECRET }
    const send = async (asked: Asked, keys = keysOf('AWS')) => {
      const { host: _host, ...headers } = (await signedBy(keys, asked)).headers
      return fetch(`${baseUrl}/${stage.authorityOf()}${asked.path}`, {
        method: asked.method,
        headers,
        ...(asked.body === undefined ? {} : { body: asked.body }),
      })
    }

    test.each([
      '/bucket/a%20key%21',
      '/bucket//a',
      '/bucket/100%25',
      '/bucket/a%252Fb/',
      '/bucket/~%2B',
    ])(
      'an upload to %s is signed with the real key, and its path is sent unchanged',
      async (path) => {
        const asked = { method: 'PUT', path, body: 'content' }
        expect((await send(asked)).status).toBe(200)
        const wanted = await signedBy(real, asked)
        expect(last()?.header('authorization')).toBe(wanted.headers.authorization)
        expect(last()?.path).toBe(path)
        expect(Buffer.from(last()?.body ?? []).toString()).toBe('content')
      },
    )

    test("a path that a client encodes differently in the signature, as Java's does, is the same object", async () => {
      const signed = { method: 'PUT', path: '/bucket/a//b', body: 'content' }
      const { host: _host, ...headers } = (await signedBy(keysOf('AWS'), signed)).headers
      const { method, body } = signed
      const tls = { ca: certificate }
      const sent = '/bucket/a/%2Fb'
      const answer = await fetch(stage.url(sent), { method, body, headers, proxy: url, tls })
      expect(answer.status).toBe(200)
      const wanted = await signedBy(real, signed)
      expect(last()?.header('authorization')).toBe(wanted.headers.authorization)
      expect(last()?.path).toBe(sent)
    })

    test('an object with a dot segment in its name is rejected, and its neighbour is not', async () => {
      const through = async (signed: string, sent: string) => {
        const asked = { method: 'PUT', path: signed, body: 'content' }
        const { host: _host, ...headers } = (await signedBy(keysOf('AWS'), asked)).headers
        const { method, body } = asked
        const tls = { ca: certificate }
        return fetch(stage.url(sent), { method, body, headers, proxy: url, tls })
      }
      expect((await through('/bucket/x/y', '/bucket/x/y')).status).toBe(200)
      const arrived = upstream.received.length
      const refused = await through('/bucket/x/./y', '/bucket/x/./y')
      expect(await refused.text()).toContain('<Code>invalid_target</Code>')
      expect(upstream.received.length).toBe(arrived)
    })

    test('a service that names no hash of its body gets a signed one', async () => {
      const headers = {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'Tables.List',
      }
      const asked = { method: 'POST', path: '/', service: 'dynamodb', headers, body: '{"a":1}' }
      expect((await send(asked)).status).toBe(200)
      expect(last()?.header('authorization')).toBe(
        (await signedBy(real, asked)).headers.authorization,
      )
    })

    test('a presigned URL has the real signature', async () => {
      const asked = {
        method: 'GET',
        path: '/bucket/a',
        headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
      }
      const presign = (keys: Keys) =>
        signerOf('s3', keys).presign(requestOf(asked), { signingDate, expiresIn: 900 })
      const searchOf = async (keys: Keys) =>
        new URLSearchParams((await presign(keys)).query as Record<string, string>)
      const address = `${baseUrl}/${stage.authorityOf()}/bucket/a?${await searchOf(keysOf('AWS'))}`
      expect((await fetch(address)).status).toBe(200)
      const sent = new URLSearchParams(last()?.path.split('?')[1])
      expect(Object.fromEntries(sent)).toEqual(Object.fromEntries(await searchOf(real)))
    })

    test('an answer that repeats the signature is masked', async () => {
      const text = await (await send({ method: 'GET', path: '/echo' })).text()
      const [, signature = ''] = /Signature=(.*)$/.exec(last()?.header('authorization') ?? '') ?? []
      expect(signature).toMatch(/^[0-9a-f]{64}$/)
      expect(text).not.toContain(signature)
      expect(text).not.toContain(ID)
    })

    test('policies apply to the request, and a client of S3 reads the error in XML', async () => {
      const keys = keysOf('READ')
      expect((await send({ method: 'GET', path: '/open/a' }, keys)).status).toBe(200)
      const arrived = upstream.received.length
      for (const asked of [
        { method: 'PUT', path: '/open/a', body: 'x' },
        { method: 'GET', path: '/closed' },
        { method: 'GET', path: '/open/%2e%2e%2Fclosed' },
      ]) {
        const answer = await send(asked, keys)
        expect(answer.status).toBe(403)
        expect(answer.headers.get('content-type')).toBe('application/xml')
        expect(await answer.text()).toContain('<Code>policy_blocked</Code>')
      }
      expect(upstream.received.length).toBe(arrived)
    })

    test('Signature 2, and 4A without a date, are rejected before any request is sent', async () => {
      const { accessKeyId } = keysOf('AWS')
      const arrived = upstream.received.length
      const address = `${baseUrl}/${stage.authorityOf()}/bucket/a`
      const older = await fetch(`${address}?AWSAccessKeyId=${accessKeyId}&Expires=1&Signature=x`)
      expect(await older.text()).toContain('<Code>invalid_target</Code>')
      const authorization = `AWS4-ECDSA-P256-SHA256 Credential=${accessKeyId}/20261122/s3/aws4_request, SignedHeaders=host, Signature=00`
      const other = await fetch(address, { headers: { authorization } })
      expect(await other.text()).toContain('<Code>invalid_header</Code>')
      expect(upstream.received.length).toBe(arrived)
    })
  },
)

describe('in forward mode', () => {
  const key = fc
    .array(
      fc.oneof(
        fc.constantFrom('a b', '%', '%2F', '+', 'ü', "!'()*~", 'a.', '...', ''),
        fc.string(),
      ),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    .filter((segments) =>
      segments.every((one) => one.isWellFormed() && !/^\.\.?$|\/|SVC_/.test(one)),
    )

  test('any key of an object is sent unchanged in forward mode, and signed with the real key', async () => {
    const named = { accessKeyId: 'SVC_SECRET_AWS_ACCESS_KEY_ID', secretAccessKey: 'of no use' }
    await fc.assert(
      fc.asyncProperty(key, async (segments) => {
        const escaped = segments.map((one) =>
          encodeURIComponent(one).replace(
            /[!'()*]/g,
            (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
          ),
        )
        const asked = { method: 'PUT', path: `/bucket/${escaped.join('/')}`, body: 'content' }
        const { host: _host, ...headers } = (await signedBy(named, asked)).headers
        const { path, ...init } = asked
        expect((await forwardAs(stage, agent, path, { ...init, headers })).status).toBe(200)
        const wanted = await signedBy({ accessKeyId: ID, secretAccessKey: SECRET }, asked)
        expect([last()?.path, last()?.header('authorization')]).toEqual([
          path,
          wanted.headers.authorization,
        ])
      }),
      { numRuns: 40 },
    )
  })
})
