/**
 * The parts of S3, STS and DynamoDB that a client of AWS needs: over TLS, in memory, and only for requests that
 * are signed with the key. Signatures are verified from the documentation, with no code of this product.
 */
import { createHash, createHmac } from 'node:crypto'
import type { Authority } from '../../../src/cli/demo/certificates.ts'

export type AwsUpstream = {
  port: number
  /** By bucket and key, `bucket/key`. */
  objects: Map<string, Uint8Array>
  /** Method, path, and the declared payload hash. */
  served: { line: string; range: string | null; payload: string }[]
  /** Session tokens that arrived with it. */
  tokens: Set<string | null>
  /** Requests that were signed with another key. */
  refused: string[]
  stop(): Promise<void>
}

type Options = {
  names: readonly string[]
  port?: number
  id: string
  secret: string
}

type Signed = { scope: string; payload: string; body: Buffer }

export async function startAws(authority: Authority, options: Options): Promise<AwsUpstream> {
  const { cert, key } = await authority.issue(options.names)
  const uploads: Uploads = new Map()
  const upstream: Omit<AwsUpstream, 'port' | 'stop'> = {
    objects: new Map(),
    served: [],
    tokens: new Set(),
    refused: [],
  }
  const server = Bun.serve({
    port: options.port ?? 0,
    hostname: '127.0.0.1',
    tls: { cert, key },
    maxRequestBodySize: 64 * 1024 * 1024,
    fetch: async (request) => {
      const line = `${request.method} ${request.url.replace(/^https:\/\/[^/]+/, '')}`
      const sent = Buffer.from(await request.arrayBuffer())
      const signed = verify(request, line, sent, options)
      if (typeof signed === 'string') {
        upstream.refused.push(`${line}: ${signed}`)
        return xml(
          403,
          `<Error><Code>SignatureDoesNotMatch</Code><Message>${signed}</Message></Error>`,
        )
      }
      const range = request.headers.get('range')
      upstream.tokens.add(request.headers.get('x-amz-security-token'))
      upstream.served.push({ line, range, payload: signed.payload })
      const [, , service = ''] = signed.scope.split('/')
      if (service === 'sts') return identity()
      if (service === 'dynamodb') return table(request)
      return store(upstream.objects, uploads, request, line, signed.body)
    },
  })
  return { ...upstream, port: server.port ?? 0, stop: () => server.stop(true) }
}

type Claim = { id: string; scope: string; names: string; signature: string; stamp: string }

/** The signature's fields in a request. */
function claimOf({ headers }: Request, query: URLSearchParams): Claim {
  const ofHeader =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=(.+)$/.exec(
      headers.get('authorization') ?? '',
    )
  if (ofHeader) {
    const [, id = '', scope = '', names = '', signature = ''] = ofHeader
    return { id, scope, names, signature, stamp: headers.get('x-amz-date') ?? '' }
  }
  const field = (name: string) => query.get(`X-Amz-${name}`) ?? ''
  const [id = '', scope = ''] = field('Credential').split(/\/(.*)/s)
  const [names, signature] = [field('SignedHeaders'), field('Signature')]
  return { id, scope, names, signature, stamp: field('Date') }
}

/** The body before it was split into chunks, or the error in it. */
function verify(request: Request, line: string, sent: Buffer, keys: Options): Signed | string {
  const [path = '', search = ''] = (line.split(' ')[1] ?? '').split(/\?(.*)/s)
  const { id, scope, names, signature, stamp } = claimOf(request, new URLSearchParams(search))
  if (id !== keys.id) return `an access key ${id}`
  const isS3 = scope.includes('/s3/')
  const isInUrl = search.includes('X-Amz-Signature=')
  const payload =
    request.headers.get('x-amz-content-sha256') ??
    (isInUrl && isS3 ? 'UNSIGNED-PAYLOAD' : sha256(sent))
  if (/^[0-9a-f]{64}$/.test(payload) && payload !== sha256(sent)) return 'the hash of the payload'
  const canonical = [
    request.method,
    isS3 ? path.replaceAll('%2F', '/') : path.replaceAll('%', '%25'),
    canonicalQuery(search),
    ...names.split(';').map((name) => `${name}:${inOneSpace(request.headers.get(name))}`),
    '',
    names,
    payload,
  ].join('\n')
  const seal = sealWith(keys.secret, scope, stamp)
  if (seal('', sha256(canonical)) !== signature) return 'the signature'
  const body = payload.startsWith('STREAMING-') ? unchunked(sent, payload, signature, seal) : sent
  return typeof body === 'string' ? body : { scope, payload, body }
}

function canonicalQuery(search: string): string {
  const pairs = search.split('&').filter((pair) => !/^(X-Amz-Signature=|$)/.test(pair))
  const whole = pairs.map((pair) => (pair.includes('=') ? pair : `${pair}=`))
  return whole.sort().join('&')
}

function inOneSpace(value: string | null): string {
  return (value ?? '').trim().replace(/ +/g, ' ')
}

type Seal = (kind: string, ...rest: string[]) => string

function sealWith(secret: string, scope: string, stamp: string): Seal {
  const key = scope
    .split('/')
    .reduce<Buffer>((last, text) => hmac(last, text), Buffer.from(`AWS4${secret}`))
  return (kind, ...rest) =>
    hmac(key, [`AWS4-HMAC-SHA256${kind}`, stamp, scope, ...rest].join('\n')).toString('hex')
}

/** A body in chunks, each with its signature. */
function unchunked(sent: Buffer, payload: string, seed: string, seal: Seal): Buffer | string {
  const { chunks, trailer } = chunksOf(sent)
  const whole = Buffer.concat(chunks.map(({ data }) => data))
  if (!payload.startsWith('STREAMING-AWS4')) return whole
  let previous = seed
  for (const { data, signature } of chunks) {
    previous = seal('-PAYLOAD', previous, sha256(''), sha256(data))
    if (previous !== signature) return 'the signature of a chunk'
  }
  if (!payload.endsWith('-TRAILER')) return whole
  return isSealed(trailer, previous, seal) ? whole : 'the signature of the trailer'
}

function chunksOf(sent: Buffer) {
  const chunks: { data: Buffer; signature: string | undefined }[] = []
  for (let at = 0; ; ) {
    const end = sent.indexOf('\r\n', at)
    const [digits = '', signature] = sent.toString('latin1', at, end).split(';chunk-signature=')
    const size = Number.parseInt(digits, 16)
    chunks.push({ data: sent.subarray(end + 2, end + 2 + size), signature })
    at = end + 2 + size + 2
    if (size > 0) continue
    return {
      chunks,
      trailer: sent
        .toString('latin1', end + 2)
        .trim()
        .split('\r\n'),
    }
  }
}

function isSealed(trailer: string[], previous: string, seal: Seal): boolean {
  const name = 'x-amz-trailer-signature:'
  const lines = trailer.filter((text) => !text.startsWith(name)).map((text) => `${text}\n`)
  const wanted = seal('-TRAILER', previous, sha256(lines.join('')))
  return trailer.includes(`${name}${wanted}`)
}

type Uploads = Map<string, Map<number, Uint8Array>>

function store(
  objects: AwsUpstream['objects'],
  uploads: Uploads,
  request: Request,
  line: string,
  body: Buffer,
): Response {
  const { hostname, searchParams } = new URL(request.url)
  const bucket = /^(.+)\.s3[.-]/.exec(hostname)?.[1]
  const [path = ''] = (line.split(' ')[1] ?? '').split('?')
  const name = (bucket === undefined ? '' : `${bucket}/`) + decodeURIComponent(path.slice(1))
  if (request.method === 'POST') return post(objects, uploads, name, searchParams, body)
  if (request.method === 'PUT') {
    const number = searchParams.get('partNumber')
    if (number === null) objects.set(name, body)
    else uploads.get(searchParams.get('uploadId') ?? '')?.set(Number(number), body)
    const etag = `"${createHash('md5').update(body).digest('hex')}"`
    return new Response(null, { headers: { etag } })
  }
  if (request.method === 'DELETE') {
    objects.delete(name)
    return new Response(null, { status: 204 })
  }
  const object = objects.get(name)
  if (object !== undefined) return read(object, request)
  if (searchParams.has('list-type')) return listing(objects, name.replace(/\/.*$/, ''))
  return xml(404, '<Error><Code>NoSuchKey</Code></Error>')
}

/** An upload in parts, from its beginning to its end. */
function post(
  objects: AwsUpstream['objects'],
  uploads: Uploads,
  name: string,
  query: URLSearchParams,
  body: Buffer,
): Response {
  if (query.has('delete')) {
    const keys = body.toString().matchAll(/<Key>(.*?)<\/Key>/g)
    for (const [, key] of keys) objects.delete(`${name.replace(/\/$/, '')}/${key}`)
    return xml(200, '<DeleteResult></DeleteResult>')
  }
  const id = query.get('uploadId') ?? `upload-${uploads.size}`
  if (query.has('uploads')) {
    uploads.set(id, new Map())
    return xml(
      200,
      `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    )
  }
  const parts = [...(uploads.get(id) ?? [])].sort(([a], [b]) => a - b)
  objects.set(name, Buffer.concat(parts.map(([, bytes]) => bytes)))
  return xml(
    200,
    '<CompleteMultipartUploadResult><ETag>"made-of-parts"</ETag></CompleteMultipartUploadResult>',
  )
}

function read(object: Uint8Array, { method, headers }: Request): Response {
  const size = object.length
  const range = headers.get('range')
  const [first, last] = range === null ? [0, size - 1] : boundsOf(range, size)
  if (range !== null && first >= size) {
    const sized = { 'content-range': `bytes */${size}` }
    return xml(416, '<Error><Code>InvalidRange</Code></Error>', sized)
  }
  const part = object.slice(first, last + 1)
  const described: Record<string, string> = {
    etag: '"of-the-object"',
    'accept-ranges': 'bytes',
    'last-modified': 'Sun, 22 Nov 2026 10:00:00 GMT',
    'content-type': 'binary/octet-stream',
  }
  if (range !== null) described['content-range'] = `bytes ${first}-${last}/${size}`
  if (method === 'HEAD') described['content-length'] = String(part.length)
  // Like S3: the checksum is the object's, and only the whole has one.
  if (part.length === size) described['x-amz-checksum-crc32'] = crc32(part)
  const status = range === null ? 200 : 206
  return new Response(method === 'HEAD' ? null : part, { status, headers: described })
}

function boundsOf(range: string, size: number): [first: number, last: number] {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? []
  if (from === '') return [Math.max(0, size - Number(to)), size - 1]
  return [Number(from), to === '' ? size - 1 : Math.min(Number(to), size - 1)]
}

function crc32(bytes: Uint8Array): string {
  const crc = Buffer.alloc(4)
  crc.writeUInt32BE(Bun.hash.crc32(bytes))
  return crc.toString('base64')
}

function listing(objects: AwsUpstream['objects'], bucket: string): Response {
  const contents = [...objects]
    .filter(([name]) => name.startsWith(`${bucket}/`))
    .map(
      ([name, { length }]) =>
        `<Contents><Key>${name.slice(bucket.length + 1)}</Key><Size>${length}</Size><LastModified>2026-11-22T10:00:00.000Z</LastModified><ETag>"x"</ETag><StorageClass>STANDARD</StorageClass></Contents>`,
    )
  return xml(
    200,
    `<ListBucketResult><Name>${bucket}</Name><IsTruncated>false</IsTruncated><KeyCount>${contents.length}</KeyCount><MaxKeys>1000</MaxKeys>${contents.join('')}</ListBucketResult>`,
  )
}

function identity(): Response {
  return xml(
    200,
    '<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/someone</Arn><UserId>someone</UserId><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>',
  )
}

function table({ headers }: Request): Response {
  const answers: Record<string, object> = {
    GetItem: { Item: { id: { S: 'one' } } },
    ListTables: { TableNames: ['table'] },
  }
  const target = headers.get('x-amz-target')?.split('.')[1] ?? ''
  const type = { 'content-type': 'application/x-amz-json-1.0' }
  return Response.json(answers[target] ?? {}, { headers: type })
}

function xml(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`, {
    status,
    headers: { ...headers, 'content-type': 'application/xml' },
  })
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}
