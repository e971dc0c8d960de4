// tier: quick
/** Signatures instead of credentials: HMAC compared with node:crypto, AWS Signature Version 4 with Smithy. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import fc from 'fast-check'
import { Fault } from '../../src/core/fault.ts'
import { Secret } from '../../src/core/secret.ts'
import type { Signable } from '../../src/core/signing/signable.ts'
import { sign, signing } from '../../src/outbound/signing/sign.ts'
import {
  type Agent,
  API,
  createAgentWithToken,
  expectRefused,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { forwardAs, recordOfAnswer } from '../support/forward.ts'
import type { ReceivedRequest } from '../support/upstream.ts'

const NOW = Date.UTC(2026, 10, 21, 4, 5, 6, 789)
const values = (named: Record<string, string | Uint8Array>) =>
  new Map(
    Object.entries(named).map(([name, value]) => [name, new Secret(Buffer.from(value as never))]),
  )

const request = (change: Partial<Signable> = {}): Signable => ({
  method: 'POST',
  authority: 'api.example.com:8443',
  path: '/v1/hooks',
  search: '?a=1&b=',
  headers: [['content-type', 'application/json']],
  body: Buffer.from('{"event":"é"}'),
  ...change,
})

const codeOf = (act: () => unknown) => {
  try {
    act()
    return 'accepted'
  } catch (error) {
    return error instanceof Fault ? error.code : String(error)
  }
}

describe('HMAC-SHA256', () => {
  const key = 'whsec_0123456789'
  const hmac = (more: object = {}) =>
    signing.parse({ type: 'hmac-sha256', secret: 'SVC_SECRET_K', header: 'X-Signature', ...more })
  const macOf = (
    text: string,
    encoding: 'hex' | 'base64' | 'base64url' = 'hex',
    with_: string | Buffer = key,
  ) => createHmac('sha256', with_).update(text).digest(encoding)

  test('the signature covers only the body unless a template names more', () => {
    expect(sign(hmac(), request(), values({ K: key }), NOW).headers).toEqual([
      ['X-Signature', macOf('{"event":"é"}')],
    ])
  })

  test('the template of GitHub is sha256={signature}', () => {
    const spec = hmac({ header: 'X-Hub-Signature-256', value: 'sha256={signature}' })
    expect(sign(spec, request(), values({ K: key }), NOW).headers).toEqual([
      ['X-Hub-Signature-256', `sha256=${macOf('{"event":"é"}')}`],
    ])
  })

  test('the template of Stripe is t={timestamp},v1={signature} over {timestamp}.{body}', () => {
    const spec = hmac({
      header: 'Stripe-Signature',
      template: '{timestamp}.{body}',
      value: 't={timestamp},v1={signature}',
    })
    const seconds = Math.floor(NOW / 1000)
    expect(sign(spec, request(), values({ K: key }), NOW).headers).toEqual([
      ['Stripe-Signature', `t=${seconds},v1=${macOf(`${seconds}.{"event":"é"}`)}`],
    ])
  })

  test('a template accepts every part of the request, in every encoding, once', () => {
    const template = '{method}\n{host}\n{path}\n{query}\n{body}\n{unknown}{body}'
    const text = `POST\napi.example.com:8443\n/v1/{body}\na=1&b=\n{path}\n{unknown}{path}`
    const tricky = request({ path: '/v1/{body}', body: Buffer.from('{path}') })
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const spec = hmac({ template, encoding })
      expect(sign(spec, tricky, values({ K: key }), NOW).headers).toEqual([
        ['X-Signature', macOf(text, encoding)],
      ])
    }
  })

  test('a key is accepted in hex or base64, and rejected in other encodings', () => {
    const raw = Buffer.from([0, 1, 2, 250, 251, 252, 253, 254])
    for (const encoding of ['hex', 'base64'] as const) {
      const spec = hmac({ key_encoding: encoding })
      expect(sign(spec, request(), values({ K: raw.toString(encoding) }), NOW).headers).toEqual([
        ['X-Signature', macOf('{"event":"é"}', 'hex', raw)],
      ])
      for (const wrong of ['not encoded!', 'ab$', '']) {
        const act = () => sign(spec, request(), values({ K: wrong }), NOW)
        expect({ encoding, wrong, code: codeOf(act) }).toEqual({
          encoding,
          wrong,
          code: 'unusable_secret',
        })
      }
    }
  })

  test('a signature is 400 for a header that the caller also sent, or that cannot be sent', () => {
    const given = request({ headers: [['x-signature', 'mine']] })
    expect(codeOf(() => sign(hmac(), given, values({ K: key }), NOW))).toBe('invalid_header')
    const unsendable = hmac({ value: 'é{signature}' })
    expect(codeOf(() => sign(unsendable, request(), values({ K: key }), NOW))).toBe(
      'invalid_header',
    )
  })

  test('a signature cannot set headers that only the resolver sets', () => {
    for (const header of ['Host', 'content-length', 'Transfer-Encoding', 'Connection', 'Proxy-X']) {
      const spec = hmac({ header, value: 'chunked' })
      const code = codeOf(() => sign(spec, request(), values({ K: key }), NOW))
      expect({ header, code }).toEqual({ header, code: 'forbidden_header' })
    }
    // The resolver adds these itself, or they describe the body's encoding; an AWS request has neither.
    for (const header of ['Accept-Encoding', 'content-encoding', 'User-Agent']) {
      const code = codeOf(() => sign(hmac({ header }), request(), values({ K: key }), NOW))
      expect({ header, code }).toEqual({ header, code: 'forbidden_header' })
    }
    for (const header of ['Authorization', 'Content-MD5', 'Signature']) {
      const code = codeOf(() => sign(hmac({ header }), request(), values({ K: key }), NOW))
      expect({ header, code }).toEqual({ header, code: 'accepted' })
    }
    for (const header of ['a b', 'a\r\nb', 'a:', '']) {
      const parsed = signing.safeParse({ type: 'hmac-sha256', secret: 'SVC_SECRET_K', header })
      expect({ header, success: parsed.success }).toEqual({ header, success: false })
    }
  })
})

describe('AWS Signature Version 4', () => {
  const segment = fc.string({ unit: fc.constantFrom(..."aZ0-._~!$&'()*+,;=:@|% é{}^".split('')) })
  const pair = fc.tuple(
    fc.string({ unit: fc.constantFrom(..."aB0-._~!$'()*,;:@/? é=&+".split('')), minLength: 1 }),
    fc.string({ unit: fc.constantFrom(..."aB0-._~!$'()*,;:@/? é=&+".split('')) }),
  )
  const cases = fc.record({
    method: fc.constantFrom('GET', 'PUT', 'POST', 'DELETE', 'HEAD'),
    segments: fc.array(segment, { maxLength: 4 }),
    pairs: fc.array(pair, { maxLength: 5 }),
    service: fc.constantFrom('s3', 'dynamodb', 'execute-api', 'sts'),
    region: fc.constantFrom('eu-central-1', 'us-east-1'),
    session: fc.option(fc.constant('FwoGZXIvYXdzE//session+token=')),
    amz: fc.option(fc.constantFrom('plain', ' with   odd \t spaces ')),
    body: fc.oneof(fc.constant(''), fc.string(), fc.constant('x'.repeat(5000))),
  })
  type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never

  const escapeUri = (text: string) =>
    encodeURIComponent(text).replace(
      /[!'()*]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
    )

  /** Smithy's signature; Smithy needs an object's path escaped the way the SDK escapes it. */
  async function expected(given: Case, path: string) {
    const signer = new SignatureV4({
      service: given.service,
      region: given.region,
      sha256: Sha256,
      uriEscapePath: given.service !== 's3',
      applyChecksum: given.service === 's3',
      credentials: {
        accessKeyId: 'AKIDEXAMPLE',
        secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
        ...(given.session === null ? {} : { sessionToken: given.session }),
      },
    })
    const query: Record<string, string[]> = {}
    for (const [name, value] of given.pairs) query[name] = [...(query[name] ?? []), value]
    const signed = await signer.sign(
      {
        method: given.method,
        protocol: 'https:',
        hostname: 'service.example',
        path:
          given.service === 's3'
            ? path
                .split('/')
                .map((part) => escapeUri(decodeURIComponent(part)))
                .join('/')
            : path,
        query,
        headers: {
          host: 'service.example',
          'content-type': 'text/plain',
          ...(given.amz === null ? {} : { 'x-amz-meta-a': given.amz }),
        },
        body: given.body,
      },
      { signingDate: new Date(NOW) },
    )
    return signed.headers
  }

  test("an AWS signature equals Smithy's for any method, path, query, service and body", async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (given) => {
        const search = given.pairs.map(
          ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
        )
        // In the target parser's form: an absolute path without dot segments and malformed escapes.
        const url = new URL(
          `https://service.example/${given.segments.map((text) => text.replaceAll('%', '%25')).join('/')}`,
        )
        url.search = search.join('&')
        const spec = signing.parse({
          type: 'aws-sigv4',
          access_key_id: 'SVC_SECRET_ID',
          secret_access_key: 'SVC_SECRET_SECRET',
          ...(given.session === null ? {} : { session_token: 'SVC_SECRET_SESSION' }),
          region: given.region,
          service: given.service,
        })
        const added = sign(
          spec,
          {
            method: given.method,
            authority: 'service.example',
            path: url.pathname,
            search: url.search,
            headers: [
              ['Content-Type', 'text/plain'],
              ['User-Agent', 'not signed'],
              ...(given.amz === null ? [] : [['X-Amz-Meta-A', given.amz] as [string, string]]),
            ],
            body: Buffer.from(given.body),
          },
          values({
            ID: 'AKIDEXAMPLE',
            SECRET: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
            ...(given.session === null ? {} : { SESSION: given.session }),
          }),
          NOW,
        )
        const headers = await expected(given, url.pathname)
        const { host: _, 'content-type': __, 'x-amz-meta-a': ___, ...wanted } = headers
        expect(Object.fromEntries(added.headers)).toEqual(wanted)
      }),
      { numRuns: 500 },
    )
  })

  test('an AWS signature rejects unreadable escapes, and credentials that a header cannot carry', () => {
    const spec = (service: string) =>
      signing.parse({
        type: 'aws-sigv4',
        access_key_id: 'SVC_SECRET_ID',
        secret_access_key: 'SVC_SECRET_SECRET',
        region: 'us-east-1',
        service,
      })
    const keys = values({ ID: 'AKID', SECRET: 'x' })
    const codes = [
      codeOf(() => sign(spec('s3'), request({ path: '/%zz' }), keys, NOW)),
      codeOf(() => sign(spec('sts'), request({ search: '?a=%ff' }), keys, NOW)),
      codeOf(() => sign(spec('sts'), request(), values({ ID: 'a\r\nb', SECRET: 'x' }), NOW)),
      codeOf(() => sign(spec('sts'), request({ headers: [['X-Amz-Date', 'mine']] }), keys, NOW)),
      codeOf(() => sign(spec('sts'), request({ headers: [['Authorization', 'mine']] }), keys, NOW)),
    ]
    expect(codes).toEqual([
      'invalid_target',
      'invalid_target',
      'unusable_secret',
      'invalid_header',
      'invalid_header',
    ])
  })
})

describe('on the real listener', () => {
  const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
  let stage: Stage
  let agent: Agent

  beforeAll(async () => {
    stage = await sharedStage()
    agent = await createAgentWithToken(stage, {
      secrets: { AWS_ID: 'AKIDEXAMPLE', AWS_SECRET: SECRET },
    })
    const policy = { allowed_locations: ['sign' as const] }
    await agent.store('HOOK', 'whsec_0123456789', { policy })
  })
  afterAll(() => stage.stop())
  afterEach(() => {
    stage.upstream.received.length = 0
  })

  const aws = {
    type: 'aws-sigv4',
    access_key_id: 'SVC_SECRET_AWS_ID',
    secret_access_key: 'SVC_SECRET_AWS_SECRET',
    region: 'eu-central-1',
    service: 's3',
  }
  const hook = {
    type: 'hmac-sha256',
    secret: 'SVC_SECRET_HOOK',
    header: 'X-Hub-Signature-256',
    value: 'sha256={signature}',
  }

  /** Signs the received request once more, with Smithy. */
  async function resigned(received: ReceivedRequest | undefined, service: string) {
    const date = received?.header('x-amz-date') ?? ''
    const [path = '', search = ''] = (received?.path ?? '').split('?')
    const query: Record<string, string[]> = {}
    for (const [name, value] of new URLSearchParams(search))
      query[name] = [...(query[name] ?? []), value]
    const signer = new SignatureV4({
      service,
      region: 'eu-central-1',
      sha256: Sha256,
      uriEscapePath: service !== 's3',
      applyChecksum: service === 's3',
      credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: SECRET },
    })
    const type = received?.header('content-type')
    const signed = await signer.sign(
      {
        method: received?.method ?? '',
        protocol: 'https:',
        hostname: API,
        path,
        query,
        headers: { host: stage.authorityOf(), ...(type ? { 'content-type': type } : {}) },
        body: received?.body,
      },
      { signingDate: new Date(date.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5')) },
    )
    return signed.headers.authorization
  }

  test('an AWS request arrives with the signature that Smithy makes for the received request', async () => {
    for (const service of ['s3', 'execute-api']) {
      stage.upstream.received.length = 0
      const answer = await agent.resolve({
        target_url: stage.url('/bucket/a%20key%21?x=1&x=&acl='),
        method: 'PUT',
        headers: { 'Content-Type': 'text/plain' },
        body: 'object',
        sign: { ...aws, service },
      })
      expect(answer.status).toBe(200)
      const [received] = stage.upstream.received
      expect(received?.header('authorization')).toBe(await resigned(received, service))
      expect(await recordOfAnswer(stage, answer)).toMatchObject({
        credential_ref: 'AWS_ID,AWS_SECRET',
        injection_style: 'aws_sigv4,aws_sigv4',
      })
    }
  })

  test('the header X-Service-Sign requests a signature in forward mode, over any body', async () => {
    for (const type of ['application/octet-stream', 'application/json']) {
      stage.upstream.received.length = 0
      const body = 'a body that is streamed'
      const response = await forwardAs(stage, agent, '/hooks', {
        method: 'POST',
        headers: { 'content-type': type, 'x-service-sign': JSON.stringify(hook) },
        body: new Blob([body]).stream(),
      })
      expect(response.status).toBe(200)
      const [received] = stage.upstream.received
      const mac = createHmac('sha256', 'whsec_0123456789').update(body).digest('hex')
      expect(received?.header('x-hub-signature-256')).toBe(`sha256=${mac}`)
      expect(received?.header('x-service-sign')).toBeUndefined()
      expect(await recordOfAnswer(stage, response)).toMatchObject({
        credential_ref: 'HOOK',
        injection_style: 'hmac_sha256',
      })
    }
  })

  test('a signing secret is restricted by its policy', async () => {
    const call = (name: string) => ({
      target_url: stage.url('/hooks'),
      method: 'POST',
      body: 'x',
      sign: { ...hook, secret: `SVC_SECRET_${name}` },
    })
    await agent.store('FREE', 'value')
    await agent.store('OTHER_HEADER', 'value', {
      policy: { allowed_headers: ['X-Other'], allowed_locations: ['sign'] },
    })
    await agent.store('FITS', 'value', {
      policy: { allowed_headers: ['x-hub-signature-256'], allowed_locations: ['sign'] },
    })
    for (const [name, objection] of [
      ['FREE', 'does not permit signing: its allowed_locations do not list sign'],
      ['OTHER_HEADER', 'does not permit this header (allowed_headers: X-Other)'],
    ]) {
      await expectRefused(
        stage,
        agent,
        call(name ?? ''),
        'policy_blocked',
        `The policy of the secret ${name} ${objection}.`,
      )
    }
    expect((await agent.resolve(call('FITS'))).status).toBe(200)
    await expectRefused(
      stage,
      agent,
      call('NOBODY'),
      'unknown_secret',
      'No secret NOBODY is available to this token.',
    )
  })
})
