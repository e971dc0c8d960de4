/**
 * Serves the console's files, which src/dev/console.ts builds and the executable contains. With the headers of each
 * response, no other script runs, nothing is sent to another origin, and no other page can embed or read the console.
 */
import zlib from 'node:zlib'
import { onceWithRetry } from '../core/async/once.ts'
import { buildConsoleOnDemand, runsFromSource } from './build_on_demand.ts'

/** Every path below /console/ that is not a file is a route of the page. */
const PATH = '/console/'
const INDEX = 'index.html'
const SUMS = 'SHA256SUMS'

/** `wasm-unsafe-eval` is for Argon2id; `data:` for images that the page makes itself, such as QR codes. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types cloakroom',
].join('; ')

const DENIED = [
  'accelerometer',
  'camera',
  'clipboard-read',
  'display-capture',
  'fullscreen',
  'geolocation',
  'gyroscope',
  'hid',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'picture-in-picture',
  'screen-wake-lock',
  'serial',
  'usb',
  'xr-spatial-tracking',
]
const ALLOWED = ['clipboard-write', 'publickey-credentials-create', 'publickey-credentials-get']

export const CONSOLE_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'permissions-policy': [
    ...DENIED.map((name) => `${name}=()`),
    ...ALLOWED.map((name) => `${name}=(self)`),
  ].join(', '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const MEDIA_TYPES: Record<string, string> = {
  html: 'text/html;charset=utf-8',
  js: 'text/javascript;charset=utf-8',
  css: 'text/css;charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

export function mediaTypeOf(name: string): string {
  return MEDIA_TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain;charset=utf-8'
}

export type Console = {
  /** SHA-256 of its SHA256SUMS, as published with a release. */
  hash: string
  /** Answers GET and HEAD of a path below /console/. */
  respond(request: Request): Response
}

/** A file in each encoding, ready to send: anyone may ask for it, so a request must cost nothing but the copy. */
type Served = {
  br: Uint8Array<ArrayBuffer>
  gz: Uint8Array<ArrayBuffer>
  plain: Uint8Array<ArrayBuffer>
  etag: string
  type: string
}

/** Milliseconds: a build takes ten seconds of a core, and anyone may ask for the page. */
const RETRY_MS = 10_000

/** Opens the console once. After a failure, calls retry ten seconds later. @throws ConsoleNotBuilt if it runs from source */
export const openConsole = onceWithRetry(open, RETRY_MS)

/** Null if it runs from source: startup does not wait for the build, and no release publishes its hash. */
export async function embeddedConsoleHash(): Promise<string | null> {
  return runsFromSource ? null : (await openConsole()).hash
}

async function open(): Promise<Console> {
  await buildConsoleOnDemand()
  const files = await readArchive()
  const sums = files.get(SUMS)
  if (!sums) throw new Error('the console is not embedded')
  const respond = (request: Request) => {
    const { pathname } = new URL(request.url)
    const name = pathname.slice(PATH.length)
    const file = files.get(name)
    // A missing asset must not be answered with the page.
    if (!file && name.startsWith('assets/'))
      return new Response(null, { status: 404, headers: CONSOLE_HEADERS })
    const index = files.get(INDEX)
    return file || !index ? send(request, file ?? sums, name) : send(request, index, INDEX)
  }
  return { hash: hashOf(sums.plain), respond }
}

async function readArchive(): Promise<Map<string, Served>> {
  const { default: path } = await import('../../dist/console.tar', { with: { type: 'file' } })
  const archive = await new Bun.Archive(await Bun.file(path).bytes()).files()
  const files = new Map<string, Served>()
  for (const [name, file] of archive) {
    if (!name.endsWith('.br')) continue
    const plainName = name.slice(0, -'.br'.length)
    const gz = await archive.get(`${plainName}.gz`)?.bytes()
    if (!gz) throw new Error(`the console lacks ${plainName}.gz`)
    const br = await file.bytes()
    const type = mediaTypeOf(plainName)
    const etag = `"${hashOf(br).slice(0, 32)}"`
    files.set(plainName, { br, gz, plain: new Uint8Array(zlib.gunzipSync(gz)), etag, type })
  }
  return files
}

function hashOf(bytes: Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
}

function send(request: Request, { br, gz, plain, etag, type }: Served, name: string): Response {
  const headers = new Headers({
    ...CONSOLE_HEADERS,
    etag,
    'content-type': type,
    vary: 'accept-encoding',
    // The contents of a name with a hash never change.
    'cache-control': name.startsWith('assets/')
      ? 'public, max-age=31536000, immutable'
      : 'no-cache',
  })
  if (request.headers.get('if-none-match') === etag)
    return new Response(null, { status: 304, headers })
  const accepted = request.headers.get('accept-encoding') ?? ''
  const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : null
  if (encoding) headers.set('content-encoding', encoding)
  const body = encoding === 'br' ? br : encoding === 'gzip' ? gz : plain
  if (request.method !== 'HEAD') return new Response(body, { headers })
  headers.set('content-length', String(body.length))
  return new Response(null, { headers })
}
