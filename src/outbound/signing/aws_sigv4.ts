/** AWS Signature Version 4: the canonical request, the derived key, the Authorization header. */
import { createHash, createHmac } from 'node:crypto'
import { Fault } from '../../platform/fault.ts'
import type { HeaderPair } from '../headers.ts'
import type { Made, Signable } from './signable.ts'

export type AwsCredentials = {
  accessKeyId: string
  secretAccessKey: Uint8Array
  sessionToken: string | null
  region: string
  service: string
}

/**
 * AWS Signature Version 4, with the Authorization header. Signed are host, content-type and all x-amz-
 * headers. Amazon S3 wants the path escaped in one way and the payload's hash in a header, other services
 * the path as sent, without empty segments and escaped once more.
 *
 * @throws Fault `invalid_target` for malformed escapes in what has to be escaped anew
 */
export function signAws(credentials: AwsCredentials, request: Signable, now: number): Made {
  const { region, service, sessionToken } = credentials
  const [day, time] = new Date(now)
    .toISOString()
    .replace(/[-:]|\.\d{3}/g, '')
    .split('T')
  const stamp = `${day}T${time}`
  const payload = sha256(request.body)
  const added: HeaderPair[] = [
    ['x-amz-date', stamp],
    ...(service === 's3' ? [['x-amz-content-sha256', payload] satisfies HeaderPair] : []),
    ...(sessionToken ? [['x-amz-security-token', sessionToken] satisfies HeaderPair] : []),
  ]
  const signed = signedHeaders(request, added)
  const names = signed.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    service === 's3' ? objectPath(request.path) : normalPath(request.path),
    canonicalQuery(request.search),
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    payload,
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', stamp, scope, sha256(canonical)].join('\n')
  const steps = [day ?? '', region, service, 'aws4_request']
  const secret = Buffer.concat([Buffer.from('AWS4'), credentials.secretAccessKey])
  const key = steps.reduce<Buffer>(
    (previous, step) => createHmac('sha256', previous).update(step).digest(),
    secret,
  )
  const digest = createHmac('sha256', key).update(toSign).digest()
  const signature = digest.toString('hex')
  const credential = `${credentials.accessKeyId}/${scope}`
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`
  return {
    headers: [...added, ['authorization', authorization]],
    signature: [Buffer.from(signature), digest],
  }
}

function signedHeaders(
  { authority, headers }: Signable,
  added: readonly HeaderPair[],
): HeaderPair[] {
  const all: HeaderPair[] = [['host', authority], ...headers, ...added]
  return all
    .map(([name, value]): HeaderPair => [name.toLowerCase(), value.replace(/[ \t]+/g, ' ').trim()])
    .filter(([name]) => name === 'host' || name === 'content-type' || name.startsWith('x-amz-'))
    .sort(byCode)
}

/** An object's key is its bytes: however it was escaped on the way, here it is escaped alike. */
function objectPath(path: string): string {
  return path
    .split('/')
    .map((segment) => escapeAws(decode(segment)))
    .join('/')
}

/** The target has no dot segments any more; `path` begins with a slash. */
function normalPath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '')
  const end = segments.length > 0 && path.endsWith('/') ? '/' : ''
  return `/${segments.map(escapeAws).join('/')}${end}`
}

/** RFC 3986 unreserved characters stay, all else is percent-encoded, parameters sorted by code. */
function canonicalQuery(search: string): string {
  const pairs = search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '')
  return pairs
    .map((pair): HeaderPair => {
      const [name = '', value = ''] = pair.split(/=(.*)/s)
      return [escapeAws(decode(name)), escapeAws(decode(value))]
    })
    .sort(byCode)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Fault('invalid_target', {
      message: 'The path or query of the target cannot be signed.',
    })
  }
}

function escapeAws(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function byCode(a: HeaderPair, b: HeaderPair): number {
  const [left, right] = [a.join('\0'), b.join('\0')]
  return left < right ? -1 : Number(left > right)
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}
