// tier: quick
/** Clients of Google and of Azure storage with stand-ins, behind either proxy: the upstream gets the real signature. */
import { afterAll, describe, expect, test } from 'bun:test'
import { createHmac, generateKeyPairSync, sign, verify } from 'node:crypto'
import { marked } from '../support/canary.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'
import { openProxyStage } from './stage.ts'

const BLOBS = 'acct.blob.core.windows.net'
const TABLES = 'acct.table.core.windows.net'
const GOOGLE = 'oauth2.googleapis.com'
const STORAGE = 'storage.googleapis.com'
const OUTSIDE = 'acct.blobs.example'

const stage = await openProxyStage([BLOBS, TABLES, GOOGLE, STORAGE, OUTSIDE])
afterAll(stage.stop)
const { agent, upstream } = stage
await agent.allow(...[BLOBS, TABLES, GOOGLE, STORAGE, OUTSIDE].map(stage.authorityOf))

const KEY = Buffer.from(
  marked('the key of a storage account, which has sixty-four bytes').slice(0, 64),
).toString('base64')
const CONNECTION = `DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=${KEY};EndpointSuffix=core.windows.net`
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const EMAIL = 'robot@project.iam.gserviceaccount.com'
const ACCOUNT = JSON.stringify({
  type: 'service_account',
  project_id: 'project',
  private_key_id: 'a'.repeat(40),
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  client_email: EMAIL,
  client_id: '1'.repeat(21),
  token_uri: 'https://oauth2.googleapis.com/token',
})
const TOKEN = marked('ya29.access-token-of-google')

await agent.store('AZURE_STORAGE_CONNECTION_STRING', CONNECTION)
await agent.store('LISTED_KEY', Buffer.alloc(64, 9).toString('base64'), {
  policy: { allowed_domains: [stage.authorityOf(OUTSIDE)] },
})
await agent.store('READ_KEY', Buffer.alloc(64, 8).toString('base64'), {
  policy: { allowed_methods: ['GET'], allowed_paths: ['/open'] },
})
await agent.store('ROBOT', ACCOUNT)
await agent.store('CALM_ROBOT', ACCOUNT, { policy: { allowed_paths: ['/storage'] } })
await agent.store('ENV_ROBOT', ACCOUNT, { policy: { allowed_locations: ['env', 'basic'] } })
upstream.on(
  '/token',
  answerOf(
    200,
    { 'content-type': 'application/json' },
    JSON.stringify({ access_token: TOKEN, expires_in: 3599 }),
  ),
)
upstream.on('/echo', ({ header }, wire) => {
  wire.write(answerOf(200, { 'content-type': 'text/plain' }, `${header('authorization')}`))
})

const OBJECT = Buffer.alloc(400_000, 'object ')
upstream.on('/object', ({ header }, wire) => {
  const range = header('x-ms-range') ?? header('range') ?? ''
  const [, first = 0, last = OBJECT.length - 1] = (/(\d+)-(\d+)/.exec(range) ?? []).map(Number)
  const headers = {
    'content-type': 'application/octet-stream',
    'content-range': `bytes ${first}-${last}/${OBJECT.length}`,
  }
  wire.write(answerOf(range ? 206 : 200, headers, OBJECT.subarray(first, last + 1)))
})

const proxies = {
  local: await stage.open('local', { standIns: true }),
  remote: await stage.open('remote', { standIns: true }),
}
const another = await stage.open('local', { standIns: true })
const last = () => upstream.received.at(-1)
const mac = (key: string, text: string) =>
  createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64')

const STAMP = 'Sun, 22 Nov 2026 04:05:06 GMT'
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

describe.each(Object.entries(proxies))(
  'behind the %s proxy',
  (_, { url, certificate, standIns }) => {
    const through = (host: string, path: string, init: RequestInit = {}) =>
      fetch(stage.url(path, host), { ...init, proxy: url, tls: { ca: certificate } })
    const refusedBefore = async (answer: Promise<Response>, code: string) => {
      const arrived = upstream.received.length
      const { headers } = await answer
      expect(headers.get('x-service-error')).toBe(code)
      expect(upstream.received.length).toBe(arrived)
    }

    describe('a client of Azure storage', () => {
      const connectionKey =
        /AccountKey=([^;]*)/.exec(standIns.AZURE_STORAGE_CONNECTION_STRING ?? '')?.[1] ?? ''
      const put = (path: string, key: string, { host = BLOBS, account = 'acct' } = {}) => {
        const text = (by: string) =>
          mac(
            by,
            `PUT\n\n\n7\n\ntext/plain\n\n\n\n\n\n\nx-ms-blob-type:BlockBlob\nx-ms-date:${STAMP}\n/${account}${path}\ncomp:x`,
          )
        const headers = {
          'content-type': 'text/plain',
          'x-ms-blob-type': 'BlockBlob',
          'x-ms-date': STAMP,
          authorization: `SharedKey ${account}:${text(key)}`,
        }
        return {
          wanted: text,
          answer: through(host, `${path}?comp=x`, { method: 'PUT', headers, body: 'content' }),
        }
      }

      test.each(['/con/a%20b', '/con//a', '/con/a%2Fb/', '/con/~%2B'])(
        'an Azure client uploads to %s with the key of a connection string',
        async (path) => {
          const { wanted, answer } = put(path, connectionKey)
          expect((await answer).status).toBe(200)
          expect(last()?.header('authorization')).toBe(`SharedKey acct:${wanted(KEY)}`)
          expect(last()?.path).toBe(`${path}?comp=x`)
        },
      )

      test('an Azure client has a connection string that differs in its key alone', () => {
        expect(standIns.AZURE_STORAGE_CONNECTION_STRING).toBe(
          CONNECTION.replace(KEY, connectionKey),
        )
        expect(connectionKey).not.toBe(KEY)
        expect(Buffer.from(connectionKey, 'base64').toString('base64')).toBe(connectionKey)
      })

      test('an Azure client calls with a shared access signature', async () => {
        const text = (key: string) =>
          mac(key, `r\n\n2027-01-01\n/blob/acct/con/a b\n\n\n\n2022-11-02\nb\n\n\n\n\n\n\n`)
        const search = (key: string) =>
          `?sv=2022-11-02&sr=b&sp=r&se=2027-01-01&sig=${encodeURIComponent(text(key))}`
        expect((await through(BLOBS, `/con/a%20b${search(connectionKey)}`)).status).toBe(200)
        expect(last()?.path).toBe(`/con/a%20b${search(KEY)}`)
        // Not with the key of another run, nor of another object.
        const other = `/con/other${search(connectionKey)}`
        expect((await through(BLOBS, other)).status).toBe(200)
        expect(last()?.path).toBe(other)
      })

      test("an Azure client's request to a foreign host is not signed, unless the policy lists it", async () => {
        const { answer } = put('/con/a', connectionKey, { host: OUTSIDE })
        await refusedBefore(answer, 'policy_blocked')
        await refusedBefore(
          put('/con/a', connectionKey, { account: 'other' }).answer,
          'policy_blocked',
        )
        const listed = put('/con/a', standIns.LISTED_KEY ?? '', { host: OUTSIDE })
        expect((await listed.answer).status).toBe(200)
        expect(last()?.header('authorization')).toBe(
          `SharedKey acct:${listed.wanted(Buffer.alloc(64, 9).toString('base64'))}`,
        )
      })

      test('an Azure client reads an error in the format of its service', async () => {
        const answer = await put('/open/a', standIns.READ_KEY ?? '').answer
        expect([answer.status, answer.headers.get('x-ms-error-code')]).toEqual([
          403,
          'policy_blocked',
        ])
        expect(answer.headers.get('content-type')).toBe('application/xml')
        expect(await answer.text()).toContain('<Code>policy_blocked</Code>')
        const key = standIns.READ_KEY ?? ''
        const signed = mac(key, `DELETE\n\n\n${STAMP}\n/acct/Tab`)
        const headers = { authorization: `SharedKey acct:${signed}`, 'x-ms-date': STAMP }
        const ofTable = await through(TABLES, '/Tab', { method: 'DELETE', headers })
        expect(ofTable.headers.get('x-service-error')).toBe('policy_blocked')
        expect(ofTable.headers.get('x-ms-error-code')).toBe('policy_blocked')
        expect(await ofTable.json()).toMatchObject({ 'odata.error': { code: 'policy_blocked' } })
      })

      test('an Azure client gets signatures that its policy permits, and no others', async () => {
        const get = (path: string) => {
          const signed = mac(
            standIns.READ_KEY ?? '',
            `GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:${STAMP}\n/acct${path}`,
          )
          const headers = { authorization: `SharedKey acct:${signed}`, 'x-ms-date': STAMP }
          return through(BLOBS, path, { headers })
        }
        expect((await get('/open/a')).status).toBe(200)
        await refusedBefore(get('/closed'), 'policy_blocked')
        await refusedBefore(get('/open/%2e%2e%2Fclosed'), 'policy_blocked')
        await refusedBefore(get('/opened'), 'policy_blocked')
      })

      const get = ({ range = '', ...own }: Record<string, string> = {}) => {
        const headers = { ...own, ...(range === '' ? {} : { range }) }
        const lines = Object.entries(own).map(([name, value]) => `${name}:${value}\n`)
        const text = `GET\n\n\n\n\n\n\n\n\n\n\n${range}\nx-ms-date:${STAMP}\n${lines.join('')}/acct/object`
        const authorization = `SharedKey acct:${mac(connectionKey, text)}`
        return through(BLOBS, '/object', {
          headers: { ...headers, 'x-ms-date': STAMP, authorization },
        })
      }

      test('an Azure client reads an object and parts of it, and gets their lengths before', async () => {
        const whole = await get()
        expect([whole.status, whole.headers.get('content-length')]).toEqual([200, '400000'])
        expect((await whole.bytes()).every((byte, at) => byte === OBJECT[at])).toBe(true)
        const part = await get({ 'x-ms-range': 'bytes=100000-299999' })
        expect(last()?.header('x-ms-range')).toBe('bytes=83616-316383')
        const signed = `GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:${STAMP}\nx-ms-range:bytes=83616-316383\n/acct/object`
        expect(last()?.header('authorization')).toBe(`SharedKey acct:${mac(KEY, signed)}`)
        expect(part.headers.get('content-range')).toBe('bytes 100000-299999/400000')
        expect([part.status, part.headers.get('content-length')]).toEqual([206, '200000'])
        expect((await part.bytes()).length).toBe(200_000)
      })

      test('an Azure client gets the whole object if it requests a range in two ways', async () => {
        const answer = await get({ 'x-ms-range': 'bytes=0-1', range: 'bytes=0-1' })
        expect(last()?.header('x-ms-range')).toBeUndefined()
        expect(last()?.header('range')).toBeUndefined()
        const signed = `GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:${STAMP}\n/acct/object`
        expect(last()?.header('authorization')).toBe(`SharedKey acct:${mac(KEY, signed)}`)
        expect([answer.status, (await answer.bytes()).length]).toEqual([200, OBJECT.length])
      })

      test("an Azure client's signature of another run, or of another request, is not made again", async () => {
        const foreign =
          /AccountKey=([^;]*)/.exec(another.standIns.AZURE_STORAGE_CONNECTION_STRING ?? '')?.[1] ??
          ''
        const { wanted, answer } = put('/con/a', foreign)
        await answer
        expect(last()?.header('authorization')).toBe(`SharedKey acct:${wanted(foreign)}`)
        const dotted = put('/con/x/./y', connectionKey)
        await dotted.answer
        expect(last()?.header('authorization')).toBe(
          `SharedKey acct:${dotted.wanted(connectionKey)}`,
        )
      })

      test('an Azure client never receives the signature in an answer that repeats it', async () => {
        const signed = mac(
          connectionKey,
          `GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:${STAMP}\n/acct/echo`,
        )
        const headers = { authorization: `SharedKey acct:${signed}`, 'x-ms-date': STAMP }
        const text = await (await through(BLOBS, '/echo', { headers })).text()
        const [, made = ''] = /:(.*)$/.exec(last()?.header('authorization') ?? '') ?? []
        expect(made).toMatch(/^[A-Za-z0-9+/]{43}=$/)
        expect(text).toStartWith('SharedKey acct:')
        expect(text).not.toContain(made)
      })
    })

    describe('a client of Google', () => {
      type Robot = { private_key: string; client_email: string; private_key_id: string }
      const robotOf = (name: string, all = standIns): Robot => JSON.parse(all[name] ?? '{}')
      const jwtOf = ({ private_key, client_email, private_key_id }: Robot, claims: object) => {
        const header = { alg: 'RS256', typ: 'JWT', kid: private_key_id }
        const text = `${part(header)}.${part({ iss: client_email, iat: 1, exp: 3601, ...claims })}`
        return `${text}.${sign('sha256', Buffer.from(text), private_key).toString('base64url')}`
      }
      const aud = `https://${stage.authorityOf(GOOGLE)}/token`
      const post = (assertion: string, host = GOOGLE, more = '') =>
        through(host, '/token', {
          method: 'POST',
          body: new URLSearchParams(
            `grant_type=${encodeURIComponent(GRANT)}&assertion=${assertion}${more}`,
          ),
        })
      const sentClaims = (token: string) => {
        const [head = '', body = '', signature = ''] = token.split('.')
        const made = Buffer.from(signature, 'base64url')
        expect(verify('sha256', Buffer.from(`${head}.${body}`), publicKey, made)).toBe(true)
        return JSON.parse(Buffer.from(body, 'base64url').toString())
      }
      const sentForm = () => new URLSearchParams(Buffer.from(last()?.body ?? []).toString())

      test('a Google client has its assertion signed, and gets a ticket that calls as the token', async () => {
        const answer = await post(jwtOf(robotOf('ROBOT'), { aud, scope: 'read' }))
        expect(sentClaims(sentForm().get('assertion') ?? '')).toEqual({
          ...{ iss: EMAIL, iat: 1, exp: 3601 },
          ...{ aud, scope: 'read' },
        })
        const { access_token: ticket, expires_in } = await answer.json()
        expect([ticket, expires_in]).toEqual([
          expect.stringMatching(/^SVC_SECRET_ROBOT-ticket-/),
          3599,
        ])
        const headers = { authorization: `Bearer ${ticket}` }
        const text = await (await through(STORAGE, '/echo', { headers })).text()
        expect(last()?.header('authorization')).toBe(`Bearer ${TOKEN}`)
        expect(text).not.toContain(TOKEN)
      })

      test('a Google client has its own token signed for the called host', async () => {
        const here = `https://${stage.authorityOf(STORAGE)}/`
        const token = jwtOf(robotOf('ROBOT'), { aud: here, sub: robotOf('ROBOT').client_email })
        const headers = { authorization: `Bearer ${token}` }
        expect((await through(STORAGE, '/storage', { headers })).status).toBe(200)
        expect(
          sentClaims(last()?.header('authorization')?.slice('Bearer '.length) ?? ''),
        ).toMatchObject({
          ...{ iss: EMAIL, sub: EMAIL, aud: here },
        })
        await refusedBefore(through(BLOBS, '/storage', { headers }), 'invalid_header')
      })

      test('a Google client gets no signature for another host than the called one', async () => {
        const token = jwtOf(robotOf('ROBOT'), { aud })
        await refusedBefore(post(token, BLOBS), 'validation_error')
        await refusedBefore(post(jwtOf(robotOf('ROBOT'), { aud: [aud] })), 'validation_error')
        await refusedBefore(post(token, GOOGLE, `&assertion=${token}`), 'validation_error')
        await refusedBefore(post(token, GOOGLE, '&grant_type=password'), 'validation_error')
      })

      test('a Google client gets no signature for text that its stand-in of this run did not sign', async () => {
        const good = jwtOf(robotOf('ROBOT'), { aud })
        const [head = '', body = '', signature = ''] = good.split('.')
        const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
        for (const token of [
          jwtOf(robotOf('ROBOT', another.standIns), { aud }),
          `${part({ alg: 'none' })}.${body}.`,
          `${part({ alg: 'HS256' })}.${body}.${signature}`,
          `${head}.${part({ ...claims, scope: 'more' })}.${signature}`,
        ]) {
          await post(token)
          expect(sentForm().get('assertion')).toBe(token)
        }
      })

      test('a Google client reads an error in the format of a token endpoint, and policies apply', async () => {
        const answer = await post(jwtOf(robotOf('CALM_ROBOT'), { aud }))
        expect([answer.status, answer.headers.get('x-service-error')]).toEqual([
          403,
          'policy_blocked',
        ])
        expect(await answer.json()).toMatchObject({
          error: 'policy_blocked',
          error_description: expect.stringContaining(
            'The policy of the secret CALM_ROBOT does not',
          ),
        })
        await refusedBefore(post(jwtOf(robotOf('ENV_ROBOT'), { aud })), 'policy_blocked')
      })

      test('a Google client reads parts of an object of Cloud Storage, and the whole from any other host', async () => {
        const { access_token: ticket } = await (await post(jwtOf(robotOf('ROBOT'), { aud }))).json()
        const headers = { authorization: `Bearer ${ticket}`, range: 'bytes=100000-299999' }
        const part = await through(STORAGE, '/object', { headers })
        expect(last()?.header('range')).toBe('bytes=83616-316383')
        expect([part.status, part.headers.get('content-length')]).toEqual([206, '200000'])
        expect((await part.bytes()).length).toBe(200_000)
        const whole = await through(GOOGLE, '/object', { headers })
        expect(last()?.header('range')).toBeUndefined()
        expect([whole.status, (await whole.bytes()).length]).toEqual([200, OBJECT.length])
      })

      test("a Google client's ticket is checked against the policy of its secret", async () => {
        const { access_token: ticket } = await (await post(jwtOf(robotOf('ROBOT'), { aud }))).json()
        const sealed = ticket.slice('SVC_SECRET_ROBOT'.length)
        const headersOf = (name: string) => ({
          authorization: `Bearer SVC_SECRET_${name}${sealed}`,
        })
        // The same value under another name is another secret.
        await refusedBefore(
          through(STORAGE, '/storage', { headers: headersOf('CALM_ROBOT') }),
          'unusable_secret',
        )
        await refusedBefore(
          through(STORAGE, '/x', { headers: headersOf('CALM_ROBOT') }),
          'policy_blocked',
        )
        await refusedBefore(
          through(STORAGE, '/x', { headers: headersOf('NOBODY') }),
          'unknown_secret',
        )
      })
    })
  },
)

test.each(['client', 'resolver'] as const)(
  'the audit of the %s names the secrets that signed',
  async (source) => {
    const wanted = [
      'AZURE_STORAGE_CONNECTION_STRING__KEY azure_storage',
      'ROBOT google_jwt',
      'ROBOT header',
    ]
    // Records are sent in batches, in the background.
    const found = await until(async () => {
      const records = await stage.records(source)
      const uses = records.map(
        ({ credential_ref: name, injection_style }) => `${name} ${injection_style}`,
      )
      return wanted.every((one) => uses.includes(one)) && uses
    })
    expect(found).toEqual(expect.arrayContaining(wanted))
  },
)
