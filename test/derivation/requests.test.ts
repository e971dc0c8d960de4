// tier: quick
/** The bytes of token requests. Signatures are verified by jose and by Smithy's signer, not by the code under test. */
import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import fc from 'fast-check'
import { jwtVerify } from 'jose'
import { Fault } from '../../src/core/fault.ts'
import { buildRequest, endpointOf } from '../../src/derivation/derivation.ts'
import type { DerivedState } from '../../src/derivation/state.ts'
import { ec, rsa, sampleRoot } from './sample_roots.ts'

const NOW = Date.UTC(2026, 10, 21, 4, 5, 6, 789)
const SECONDS = Math.floor(NOW / 1000)

const state = (refresh_token: string | null): DerivedState => ({
  v: 3,
  credential: 'access-token-1',
  refresh_token,
  expires_at: NOW,
  derived_at: NOW,
  guarded: [],
})

async function built(
  kind: 'oauth2' | 'github_app' | 'aws_role',
  change: Readonly<Record<string, unknown>> = {},
  old: DerivedState | null = null,
) {
  const { url, headers, body, spendsRefreshToken } = await buildRequest(
    sampleRoot(kind, change),
    old,
    NOW,
  )
  const text = Buffer.from(body).toString()
  return {
    url,
    headers: Object.fromEntries(headers),
    text,
    form: Object.fromEntries(new URLSearchParams(text)),
    spendsRefreshToken,
  }
}

describe('an OAuth request', () => {
  test('an OAuth request uses client credentials, authenticated by Basic, unless the root has a refresh token', async () => {
    const found = await built('oauth2')
    expect(found).toEqual({
      url: 'https://localhost:8443/token',
      headers: {
        accept: 'application/json',
        'user-agent': 'cloakroom',
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${btoa('client-1:client-secret-1')}`,
      },
      text: 'grant_type=client_credentials',
      form: { grant_type: 'client_credentials' },
      spendsRefreshToken: false,
    })
  })

  test('an OAuth request uses the newest refresh token: from the state, else from the root', async () => {
    const root = { refresh_token: 'first' }
    const tokens = [
      await built('oauth2', root),
      await built('oauth2', root, state(null)),
      await built('oauth2', root, state('second')),
    ]
    expect(tokens.map(({ form }) => form)).toEqual(
      ['first', 'first', 'second'].map((refresh_token) => ({
        grant_type: 'refresh_token',
        refresh_token,
      })),
    )
    expect(tokens.every(({ spendsRefreshToken }) => spendsRefreshToken)).toBe(true)
  })

  test('an OAuth request never uses a refresh token that the root does not have', async () => {
    const { form, spendsRefreshToken } = await built('oauth2', {}, state('stray'))
    expect(form).toEqual({ grant_type: 'client_credentials' })
    expect(spendsRefreshToken).toBe(false)
  })

  test('an OAuth request form-encodes ID and secret before Basic, and leaves unreserved characters unchanged', async () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
    const usable = text.filter((it) => it.trim() !== '' && !/\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/u.test(it))
    await fc.assert(
      fc.asyncProperty(usable, usable, async (client_id, client_secret) => {
        const { headers } = await built('oauth2', { client_id, client_secret })
        const [scheme, pair = ''] = headers.authorization?.split(' ') ?? []
        const parts = atob(pair).split(':')
        const decoded = parts.map((part) => new URLSearchParams(`v=${part}`).get('v'))
        expect([scheme, ...decoded]).toEqual(['Basic', client_id, client_secret])
      }),
    )
    const { headers } = await built('oauth2', { client_id: 'a-_.~', client_secret: 'p%q+r/s:t u' })
    expect(headers.authorization).toBe(`Basic ${btoa('a-_.~:p%25q%2Br%2Fs%3At%20u')}`)
  })

  test('an OAuth request has ID and secret in the body with post, and only the ID with none', async () => {
    const post = await built('oauth2', { client_auth: 'post', client_secret: 'p%q+r/s t' })
    expect(post.form).toMatchObject({ client_id: 'client-1', client_secret: 'p%q+r/s t' })
    expect(post.headers.authorization).toBeUndefined()
    const none = await built('oauth2', { client_secret: undefined })
    expect(none.form).toEqual({ grant_type: 'client_credentials', client_id: 'client-1' })
    expect(none.headers.authorization).toBeUndefined()
  })

  test.each([
    ['RS256', rsa.pkcs8, rsa.publicKey],
    ['RS256', rsa.pkcs1, rsa.publicKey],
    ['ES256', ec.sec1, ec.publicKey],
    ['ES256', ec.pkcs8, ec.publicKey],
  ])(
    'an OAuth request authenticates the client with an assertion of %s for 5 minutes',
    async (alg, private_key, publicKey) => {
      const client = { client_secret: undefined, client_auth: 'private_key_jwt', private_key }
      const made = [
        await built('oauth2', { ...client, key_id: 'key-1' }),
        await built('oauth2', client),
      ]
      const tokens = made.map(({ form }) => {
        expect(form.client_id).toBe('client-1')
        expect(form.client_assertion_type).toBe(
          'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        )
        return form.client_assertion ?? ''
      })
      const options = { currentDate: new Date(NOW), audience: 'https://localhost:8443/token' }
      const [first, second] = await Promise.all(
        tokens.map((token) => jwtVerify(token, publicKey, options)),
      )
      expect(first?.protectedHeader).toEqual({ alg, typ: 'JWT', kid: 'key-1' })
      expect(second?.protectedHeader).toEqual({ alg, typ: 'JWT' })
      expect(first?.payload).toEqual({
        iss: 'client-1',
        sub: 'client-1',
        aud: 'https://localhost:8443/token',
        jti: expect.stringMatching(/^[\w-]{22}$/),
        iat: SECONDS,
        exp: SECONDS + 300,
      })
      expect(first?.payload.jti).not.toBe(second?.payload.jti)
    },
  )

  test('an OAuth request addresses the assertion to assertion_audience if the root has one', async () => {
    const { form } = await built('oauth2', {
      client_secret: undefined,
      client_auth: 'private_key_jwt',
      private_key: ec.sec1,
      assertion_audience: 'https://issuer.example',
    })
    const options = { currentDate: new Date(NOW), audience: 'https://issuer.example' }
    await expect(
      jwtVerify(form.client_assertion ?? '', ec.publicKey, options),
    ).resolves.toBeDefined()
  })

  test('an OAuth request carries scope, resource, audience and parameters in both grants', async () => {
    const more = {
      scope: 'read write',
      resource: 'https://mcp.example/',
      audience: 'https://api.example',
    }
    const root = { ...more, parameters: { tenant: 'a&b=c' } }
    for (const refresh_token of [undefined, 'refresh'])
      expect((await built('oauth2', { ...root, refresh_token })).form).toMatchObject({
        ...more,
        tenant: 'a&b=c',
      })
  })

  test('an OAuth request has the grant type of the parameters if the root names one', async () => {
    const parameters = { grant_type: 'account_credentials', account_id: 'a' }
    expect((await built('oauth2', { parameters })).form).toEqual(parameters)
  })
})

describe('a GitHub request', () => {
  test('a GitHub request is authenticated by a JSON Web Token of the app, issued a minute ago', async () => {
    for (const [change, iss] of [
      [{}, 'Iv1.0123456789abcdef'],
      [{ client_id: undefined, app_id: 815 }, '815'],
      [{ app_id: 815 }, 'Iv1.0123456789abcdef'],
    ] as const) {
      const { url, headers, text } = await built('github_app', change)
      expect(url).toBe('https://localhost:8443/api/v3/app/installations/4711/access_tokens')
      expect(headers).toMatchObject({ accept: 'application/json', 'user-agent': 'cloakroom' })
      expect(text).toBe('{}')
      const token = headers.authorization?.replace('Bearer ', '') ?? ''
      const { payload, protectedHeader } = await jwtVerify(token, rsa.publicKey, {
        currentDate: new Date(NOW),
      })
      expect(payload).toEqual({ iss, iat: SECONDS - 60, exp: SECONDS + 540 })
      expect(protectedHeader.alg).toBe('RS256')
    }
  })

  test('a GitHub request narrows the token to repositories and permissions', async () => {
    const narrowed = { repositories: ['one', 'two'], permissions: { contents: 'read' } }
    const { text } = await built('github_app', narrowed)
    expect(JSON.parse(text)).toEqual(narrowed)
  })
})

describe('an AWS request', () => {
  const more = {
    external_id: 'ext=1',
    session_policy: '{"Statement":[]}',
    region: 'eu-central-1',
    duration_seconds: 900,
  }

  test.each([{}, more])(
    'an AWS request assumes the role and is signed the way Smithy signs it: %j',
    async (change) => {
      const { url, headers, form, text } = await built('aws_role', change)
      const {
        external_id,
        session_policy,
        region = 'us-east-1',
        duration_seconds = 3600,
      } = change as Partial<typeof more>
      expect(form).toEqual({
        Action: 'AssumeRole',
        Version: '2011-06-15',
        RoleArn: 'arn:aws:iam::123456789012:role/deploy',
        RoleSessionName: 'cloakroom',
        DurationSeconds: String(duration_seconds),
        ...(external_id && { ExternalId: external_id }),
        ...(session_policy && { Policy: session_policy }),
      })
      const signer = new SignatureV4({
        service: 'sts',
        region,
        credentials: {
          accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
          secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
        },
        sha256: Sha256,
        applyChecksum: false,
      })
      const { hostname, port } = new URL(url)
      const signed = await signer.sign(
        {
          method: 'POST',
          protocol: 'https:',
          hostname,
          port: Number(port),
          path: '/',
          headers: {
            host: `${hostname}:${port}`,
            'content-type': 'application/x-www-form-urlencoded',
          },
          body: text,
        },
        { signingDate: new Date(NOW) },
      )
      expect(headers.authorization).toBe(signed.headers.authorization)
      expect(headers).toMatchObject({
        accept: 'application/json',
        'x-amz-date': '20261121T040506Z',
      })
      expect(headers['x-amz-security-token']).toBeUndefined()
    },
  )
})

test('every kind of request is sent to its endpoint', async () => {
  for (const kind of ['oauth2', 'github_app', 'aws_role'] as const) {
    expect(endpointOf(sampleRoot(kind)).href).toBe((await built(kind)).url)
    expect(endpointOf(sampleRoot(kind)).host).toBe('localhost:8443')
  }
})

test('a private key that cannot sign is rejected without showing it', async () => {
  const broken = rsa.pkcs8.replace(/(?<=-\n).{40}/, 'A'.repeat(40))
  const client = { client_secret: undefined, client_auth: 'private_key_jwt' }
  const pem = ({ privateKey }: { privateKey: KeyObject }) =>
    String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  for (const [kind, change] of [
    ['github_app', { private_key: broken }],
    ['github_app', { private_key: ec.pkcs8 }],
    ['github_app', { private_key: pem(generateKeyPairSync('rsa', { modulusLength: 1024 })) }],
    ['oauth2', { ...client, private_key: pem(generateKeyPairSync('ec', { namedCurve: 'P-384' })) }],
    ['oauth2', { ...client, private_key: broken }],
  ] as const) {
    const refusal = await built(kind, change).catch((error: unknown) => error)
    if (!(refusal instanceof Fault)) throw new Error('the key was not refused')
    expect(refusal.code).toBe('unusable_secret')
    expect(refusal.message).toContain('private_key')
    expect(refusal.message).not.toContain('A'.repeat(40))
  }
})
