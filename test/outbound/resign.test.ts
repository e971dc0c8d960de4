// tier: quick
/**
 * Requests that a client signed for AWS with a placeholder, signed again: compared with Smithy and AWS's own
 * examples.
 */
import { describe, expect, test } from 'bun:test'
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import fc from 'fast-check'
import { Fault } from '../../src/core/fault.ts'
import { Secret } from '../../src/core/secret.ts'
import { deriveSigningKey } from '../../src/core/signing/aws_sigv4.ts'
import type { CallBody } from '../../src/outbound/call.ts'
import { resignChunks } from '../../src/outbound/signing/aws_chunks.ts'
import { signAgain } from '../../src/outbound/signing/aws_resign.ts'
import {
  awsSignatureIn,
  isSignedForStorage,
  keyFor,
  needsWholeBody,
} from '../../src/outbound/signing/aws_signature.ts'
import { parseTarget } from '../../src/outbound/target.ts'

const HOST = 'bucket.s3.example.com'
const SIGNED_AT = new Date(Date.UTC(2026, 10, 22, 4, 5, 6))
const real = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const standIn = { accessKeyId: 'SVC_SECRET_AWS_ACCESS_KEY_ID', secretAccessKey: 'of no use' }
const values = new Map(
  Object.entries({
    AWS_ACCESS_KEY_ID: real.accessKeyId,
    AWS_SECRET_ACCESS_KEY: real.secretAccessKey,
    AWS_SESSION_TOKEN: 'the/session+token==',
  }).map(([name, value]) => [name, new Secret(Buffer.from(value))]),
)

type Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string }

const signerOf = (service: string, credentials: Credentials) =>
  new SignatureV4({
    service,
    region: 'eu-central-1',
    sha256: Sha256,
    uriEscapePath: service !== 's3',
    applyChecksum: service === 's3',
    credentials,
  })

const escapeUri = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )

type Given = {
  method: string
  segments: string[]
  query: Record<string, string>
  headers: Record<string, string>
  body: string
}

const pathOf = ({ segments }: Given) => `/${segments.map(escapeUri).join('/')}`
const searchOf = (query: Record<string, string | string[] | null>) => {
  const all = Object.entries(query).map(
    ([name, value]) => `${escapeUri(name)}=${escapeUri(String(value))}`,
  )
  return all.length > 0 ? `?${all.join('&')}` : ''
}
const requestOf = (given: Given) => ({
  method: given.method,
  protocol: 'https:',
  hostname: HOST,
  path: pathOf(given),
  query: given.query,
  headers: { host: HOST, ...given.headers },
  body: given.body,
})

/** In the sent form. */
function again(
  method: string,
  path: string,
  search: string,
  headers: Record<string, string>,
  body: CallBody,
) {
  const { host: _, ...callers } = headers
  const target = parseTarget(`https://${HOST}${path}${search}`)
  const signature = awsSignatureIn(callers, target.search)
  if (!signature) throw new Error('not recognised')
  const request = { method, authority: target.authority, path: target.path, search: target.search }
  const signed = signAgain(
    signature,
    { ...request, headers: Object.entries(callers), body },
    values,
  )
  return { ...signed, path: target.path, headers: Object.fromEntries(signed.headers) }
}

const given = fc.record({
  method: fc.constantFrom('GET', 'PUT', 'POST', 'DELETE'),
  segments: fc
    .array(
      fc.oneof(
        fc.constantFrom('a b', '%', 'a%2Fb', '+', 'ü', "!'()*~", 'x', 'a'),
        fc.string({ unit: 'binary' }),
      ),
      {
        minLength: 1,
        maxLength: 5,
      },
    )
    .filter(([first]) => first !== '')
    .filter((segments) =>
      segments.every((segment) => segment.isWellFormed() && !/^\.{1,2}$|\//.test(segment)),
    ),
  query: fc.dictionary(fc.stringMatching(/^[ -^`-~].{0,9}$/), fc.string(), { maxKeys: 4 }),
  headers: fc.record({
    'x-amz-meta-a': fc.stringMatching(/^[!-~]{1,3}( {1,3}[!-~]{1,3}){0,3}$/),
    'content-type': fc.constantFrom('text/plain', 'application/x-amz-json-1.0'),
  }),
  body: fc.string(),
})
const usable = given.filter(
  ({ query, headers }) => !/SVC_SECRET/.test(JSON.stringify([query, headers])),
)

describe('a request that is signed in its header', () => {
  test.each(['s3', 'dynamodb', 'execute-api'])(
    'a request is signed in its header for %s the way Smithy signs with the real key',
    async (service) => {
      await fc.assert(
        fc.asyncProperty(usable, async (one) => {
          const sign = (credentials: Credentials) =>
            signerOf(service, credentials).sign(requestOf(one), { signingDate: SIGNED_AT })
          const [sent, wanted] = await Promise.all([sign(standIn), sign(real)])
          const body = { bytes: Buffer.from(one.body) }
          const made = again(one.method, pathOf(one), searchOf(one.query), sent.headers, body)
          expect(made.headers.authorization).toBe(wanted.headers.authorization ?? '')
          expect(made.path).toBe(pathOf(one))
          expect(JSON.stringify(made)).not.toContain(real.secretAccessKey)
        }),
        { numRuns: 60 },
      )
    },
  )

  test('a slash of a key is signed as one, however it is sent', async () => {
    const sign = (credentials: Credentials) =>
      signerOf('s3', credentials).sign(
        {
          method: 'GET',
          protocol: 'https:',
          hostname: HOST,
          path: '/a//b%20',
          headers: { host: HOST },
        },
        { signingDate: SIGNED_AT },
      )
    const [sent, wanted] = await Promise.all([sign(standIn), sign(real)])
    for (const path of ['/a//b%20', '/a/%2Fb%20', '/a%2f/b%20']) {
      const made = again('GET', path, '', sent.headers, null)
      expect(made.headers.authorization).toBe(wanted.headers.authorization ?? '')
      expect(made.path).toBe(path)
    }
  })

  test('a session token is signed in its sent form', async () => {
    const one = { method: 'GET', segments: ['a'], query: {}, headers: {}, body: '' }
    const sign = (credentials: Credentials) =>
      signerOf('s3', credentials).sign(requestOf(one), { signingDate: SIGNED_AT })
    const sent = await sign({ ...standIn, sessionToken: 'SVC_SECRET_AWS_SESSION_TOKEN' })
    const wanted = await sign({ ...real, sessionToken: 'the/session+token==' })
    const headers = { ...sent.headers, 'x-amz-security-token': 'the/session+token==' }
    expect(again('GET', '/a', '', headers, null).headers.authorization).toBe(
      wanted.headers.authorization ?? '',
    )
  })

  test('the host is signed even if the client omitted it', () => {
    const headers = {
      authorization:
        'AWS4-HMAC-SHA256 Credential=SVC_SECRET_AWS_ACCESS_KEY_ID/20261122/eu-central-1/s3/aws4_request, SignedHeaders=x-amz-date, Signature=00',
      'x-amz-date': '20261122T040506Z',
    }
    expect(again('GET', '/a', '', headers, null).headers.authorization).toContain(
      'SignedHeaders=host;x-amz-date,',
    )
  })

  test('a header that is not sent is not signed', () => {
    const headers = {
      authorization:
        'AWS4-HMAC-SHA256 Credential=SVC_SECRET_AWS_ACCESS_KEY_ID/20261122/eu-central-1/s3/aws4_request,SignedHeaders=content-length;expect;host;x-amz-date,Signature=00',
      'x-amz-date': '20261122T040506Z',
    }
    expect(again('GET', '/a', '', headers, null).headers.authorization).toContain(
      'SignedHeaders=host;x-amz-date,',
    )
  })

  test('a stream keeps the hash that the client names, and needs none for an unsigned payload', async () => {
    const one = { method: 'PUT', segments: ['a'], query: {}, headers: {}, body: '' }
    for (const payload of [
      'UNSIGNED-PAYLOAD',
      'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
      'a'.repeat(64),
    ]) {
      const sign = (credentials: Credentials) =>
        signerOf('s3', credentials).sign(
          requestOf({ ...one, headers: { 'x-amz-content-sha256': payload } }),
          { signingDate: SIGNED_AT },
        )
      const [sent, wanted] = await Promise.all([sign(standIn), sign(real)])
      const stream = new Blob(['content']).stream()
      const made = again('PUT', '/a', '', sent.headers, { stream, length: 7 })
      expect(made.headers.authorization).toBe(wanted.headers.authorization ?? '')
      expect(made.body).toEqual({ stream, length: 7 })
      expect(needsWholeBody(sent.headers, '')).toBe(false)
    }
    const sent = await signerOf('dynamodb', standIn).sign(requestOf(one))
    expect(needsWholeBody(sent.headers, '')).toBe(true)
    expect(needsWholeBody({}, '')).toBe(false)
  })

  test('a body with an inserted value gets a new hash', async () => {
    const one = { method: 'PUT', segments: ['a'], query: {}, headers: {}, body: 'SVC_SECRET_X' }
    const sent = await signerOf('s3', standIn).sign(requestOf(one), { signingDate: SIGNED_AT })
    const wanted = await signerOf('s3', real).sign(requestOf({ ...one, body: 'value' }), {
      signingDate: SIGNED_AT,
    })
    const made = again('PUT', '/a', '', sent.headers, { bytes: Buffer.from('value') })
    expect(made.headers.authorization).toBe(wanted.headers.authorization ?? '')
    expect(made.headers['x-amz-content-sha256']).toBe(wanted.headers['x-amz-content-sha256'] ?? '')
  })
})

describe('a presigned URL', () => {
  test('a presigned URL is signed the way Smithy signs it with the real key and session token', async () => {
    await fc.assert(
      fc.asyncProperty(usable, async (one) => {
        const presign = (credentials: Credentials) =>
          signerOf('s3', credentials).presign(
            {
              ...requestOf({ ...one, headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } }),
              body: undefined,
            },
            { signingDate: SIGNED_AT, expiresIn: 900 },
          )
        const sent = await presign({ ...standIn, sessionToken: 'SVC_SECRET_AWS_SESSION_TOKEN' })
        const wanted = await presign({ ...real, sessionToken: 'the/session+token==' })
        const made = again(one.method, pathOf(one), searchOf(sent.query ?? {}), {}, null)
        const query = Object.fromEntries(new URLSearchParams(made.search.replaceAll('+', '%2B')))
        expect(query).toEqual({ ...(wanted.query as Record<string, string>) })
      }),
      { numRuns: 60 },
    )
  })
})

describe('an upload in signed chunks', () => {
  // "Signature Calculations for the Authorization Header: Transferring Payload in Multiple Chunks", Amazon S3 API.
  const key = deriveSigningKey(
    {
      secretAccessKey: Buffer.from('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'),
      region: 'us-east-1',
      service: 's3',
    },
    '20130524',
  )
  const stamp = '20130524T000000Z'
  const bodyOf = (signatures: string[], trailer: string) => {
    const [first, second, last] = signatures
    const [one, two] = ['a'.repeat(65_536), 'a'.repeat(1024)]
    return `10000;chunk-signature=${first}\r\n${one}\r\n400;chunk-signature=${second}\r\n${two}\r\n0;chunk-signature=${last}\r\n${trailer}\r\n`
  }
  const useless = Array.from({ length: 3 }, () => '0'.repeat(64))
  const declared = ['x-amz-checksum-crc32c']
  const signed = async (text: string, signature: string, size: number, names = declared) => {
    const bytes = Buffer.from(text)
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    )
    const sent = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const piece of pieces) controller.enqueue(piece)
        controller.close()
      },
    })
    const stream = sent.pipeThrough(resignChunks(key, { stamp, signature, declared: names }))
    return await new Response(stream).text()
  }

  test.each([7, 1000, 65_536, 1_000_000])(
    'an upload in signed chunks has the signatures of AWS, in pieces of %i bytes',
    async (size) => {
      const seed = '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9'
      const wanted = bodyOf(
        [
          'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648',
          '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497',
          'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9',
        ],
        '',
      )
      expect(await signed(bodyOf(useless, ''), seed, size)).toBe(wanted)
    },
  )

  test('an upload in signed chunks has the signature of its trailer', async () => {
    const seed = '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e'
    const trailer = (signature: string) =>
      `x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:${signature}\r\n`
    const wanted = bodyOf(
      [
        'b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2',
        '1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7',
        '2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992',
      ],
      trailer('d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435'),
    )
    const sent = bodyOf(useless, trailer('0'.repeat(64)))
    expect(await signed(sent, seed, 1000)).toBe(wanted)
  })

  test.each([
    'no chunk at all\r\n',
    `10;chunk-signature=${'0'.repeat(64)}\r\nshort`,
    `ffffffff;chunk-signature=${'0'.repeat(64)}\r\n`,
    `1;chunk-signature=${'0'.repeat(64)}\r\nab\r\n`,
    'x'.repeat(20_000),
  ])('an invalid chunk ends the upload', async (text) => {
    expect(await signed(text, '', 1000).catch((error) => error)).toMatchObject({
      code: 'invalid_header',
    })
  })
})

describe('trailers after the chunks', () => {
  const LAST = `0;chunk-signature=${'0'.repeat(64)}\r\n`
  const SUM = 'x-amz-checksum-crc32c:sOO8/Q==\r\n'
  const SEAL = `x-amz-trailer-signature:${'0'.repeat(64)}\r\n`
  const codeOf = async (text: string, declared: string[]) => {
    const key = { algorithm: 'A', scope: 's', sign: () => '1', verifies: () => true }
    const sent = new Blob([text]).stream()
    const seed = { stamp: 't', signature: '0', declared }
    const stream = sent.pipeThrough(resignChunks(key, seed))
    return await new Response(stream).text().then(
      () => 'signed',
      (error) => error.code,
    )
  }

  test('trailers after the chunks are the declared ones', async () => {
    const names = ['x-amz-checksum-crc32c']
    expect(await codeOf(`${LAST}\r\n`, [])).toBe('signed')
    expect(await codeOf(`${LAST}${SUM}${SEAL}\r\n`, names)).toBe('signed')
    expect(await codeOf(`${LAST}${SUM}${SEAL}`, names)).toBe('signed')
  })

  test.each([
    ['bytes behind the last chunk', `${LAST}\r\nmore`, []],
    ['a line behind the last chunk', `${LAST}\r\nGET / HTTP/1.1\r\n\r\n`, []],
    ['a chunk behind the last one', `${LAST}\r\n${LAST}\r\n`, []],
    ['a line behind the trailer', `${LAST}${SUM}${SEAL}\r\n${SUM}`, ['x-amz-checksum-crc32c']],
    ['a trailer that was not declared', `${LAST}${SUM}${SEAL}\r\n`, ['x-amz-checksum-sha256']],
    ['a signed trailer where none was declared', `${LAST}${SEAL}\r\n`, []],
    ['a line without a name', `${LAST}text\r\n\r\n`, ['x-amz-checksum-crc32c']],
  ])('a trailer is rejected if it is %s', async (_, text, declared) => {
    expect(await codeOf(text, declared)).toBe('invalid_header')
  })
})

describe('requests that cannot be signed again are rejected', () => {
  const id = 'SVC_SECRET_AWS_ACCESS_KEY_ID'
  const scope = `${id}/20261122/eu-central-1/s3/aws4_request`
  const codeOf = (headers: Record<string, string>, search = '') => {
    try {
      return awsSignatureIn(headers, search) === null ? 'left alone' : 'signed'
    } catch (error) {
      return error instanceof Fault ? error.code : String(error)
    }
  }
  const date = { 'x-amz-date': '20261122T040506Z' }
  const header = (text: string) => ({ ...date, authorization: text })
  const good = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=00`

  test('Signature 4A for one region, Signature 2, events, and unreadable signatures are rejected', () => {
    expect(codeOf(header(good))).toBe('signed')
    expect(codeOf(header(good.replace('HMAC-SHA256', 'ECDSA-P256-SHA256')))).toBe('invalid_header')
    expect(codeOf(header(`AWS ${id}:c2lnbmF0dXJl`))).toBe('invalid_header')
    expect(codeOf({ authorization: good })).toBe('invalid_header')
    expect(codeOf(header(good.replace('20261122', '20261121')))).toBe('invalid_header')
    expect(codeOf(header(good.replace('SignedHeaders', 'Headers')))).toBe('invalid_header')
    const events = { 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-EVENTS' }
    expect(codeOf({ ...header(good), ...events })).toBe('invalid_header')
    expect(() => awsSignatureIn({ ...header(good), ...events }, '')).toThrow(
      'event streams are signed by the client',
    )
  })

  test('a scheme that is not in capitals, which AWS rejects, is rejected by its name', () => {
    for (const scheme of ['AWS4-HMAC-SHA256', 'AWS4-ECDSA-P256-SHA256']) {
      for (const written of [scheme.toLowerCase(), scheme.replace('AWS', 'Aws')]) {
        const given = header(good.replace('AWS4-HMAC-SHA256', written))
        expect(codeOf(given)).toBe('invalid_header')
        expect(() => awsSignatureIn(given, '')).toThrow(`in capitals: write ${scheme}.`)
        expect(isSignedForStorage(given, '')).toBe(true)
      }
    }
    expect(codeOf(header(`aws ${id}:c2lnbmF0dXJl`))).toBe('invalid_header')
    expect(codeOf(header(good.replace(id, 'AKIDOTHER').toLowerCase()))).toBe('left alone')
  })

  test('an error repeats no submitted text, except known names', () => {
    const refused = (payload: string) => () =>
      awsSignatureIn({ ...header(good), 'x-amz-content-sha256': payload }, '')
    expect(refused('a text of the caller')).toThrow('AWS signature is not supported: use')
    expect(refused('STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD')).toThrow(
      '(STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD)',
    )
    expect(refused('UNSIGNED-PAYLOAD')).not.toThrow()
  })

  test('the older URLs of S3, and those of Signature 4A for one region, are rejected', () => {
    const presigned = (algorithm: string) =>
      `?X-Amz-Algorithm=${algorithm}&X-Amz-Credential=${encodeURIComponent(scope)}&X-Amz-Date=20261122T040506Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Signature=00`
    expect(codeOf({}, presigned('AWS4-HMAC-SHA256'))).toBe('signed')
    expect(codeOf({}, presigned('AWS4-ECDSA-P256-SHA256'))).toBe('invalid_target')
    expect(codeOf({}, `?AWSAccessKeyId=${id}&Expires=1&Signature=x`)).toBe('invalid_target')
  })

  test('a foreign signature is left unchanged', () => {
    expect(codeOf(header(good.replace(id, 'AKIDOTHER')))).toBe('left alone')
    expect(codeOf({}, '?AWSAccessKeyId=AKIDOTHER&Expires=1&Signature=x')).toBe('left alone')
    expect(codeOf({ authorization: 'Bearer SVC_SECRET_AWS_ACCESS_KEY_ID' })).toBe('left alone')
  })

  test("an access key ID's name selects its key, and any other name only itself", () => {
    expect(keyFor('AWS_ACCESS_KEY_ID')).toBe('AWS_SECRET_ACCESS_KEY')
    expect(keyFor('PROD_AWS_ACCESS_KEY_ID_2')).toBe('PROD_AWS_SECRET_ACCESS_KEY_2')
    expect(keyFor('R2_ACCESS_KEY')).toBe('R2_SECRET_KEY')
    expect(keyFor('STRIPE')).toBe('STRIPE')
  })
})
