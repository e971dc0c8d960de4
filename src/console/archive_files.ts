/**
 * Files of the console and the documentation, as the executable contains them. With the headers of each response, no other
 * script runs, nothing is sent to another origin, and no other page can embed or read these pages.
 */
import zlib from 'node:zlib'

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

export const PAGE_HEADERS = {
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
  png: 'image/png',
  json: 'application/json',
  md: 'text/markdown;charset=utf-8',
}

export function mediaTypeOf(name: string): string {
  return MEDIA_TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain;charset=utf-8'
}

/** A file in each encoding, ready to send: anyone may ask for it, so a request must cost nothing but the copy. */
export type ServedFile = {
  /** Both are absent for a file that compresses poorly, such as a picture. */
  br?: Uint8Array<ArrayBuffer>
  gz?: Uint8Array<ArrayBuffer>
  plain: Uint8Array<ArrayBuffer>
  etag: string
  type: string
  /** The contents of a name with a hash never change. */
  isImmutable: boolean
}

/** The files of an archive that src/dev/built_archive.ts wrote, by their names. */
export async function readArchive(path: string): Promise<Map<string, ServedFile>> {
  const archive = await new Bun.Archive(await Bun.file(path).bytes()).files()
  const files = new Map<string, ServedFile>()
  for (const [entry, file] of archive) {
    if (entry.endsWith('.gz')) continue
    const bytes = await file.bytes()
    const isCompressed = entry.endsWith('.br')
    const name = isCompressed ? entry.slice(0, -'.br'.length) : entry
    files.set(name, {
      ...(isCompressed
        ? await decompressFile(name, bytes, archive.get(`${name}.gz`))
        : { plain: bytes }),
      etag: `"${digestInHex(bytes).slice(0, 32)}"`,
      type: mediaTypeOf(name),
      isImmutable: name.startsWith('assets/'),
    })
  }
  return files
}

async function decompressFile(name: string, br: Uint8Array<ArrayBuffer>, file: File | undefined) {
  const gz = await file?.bytes()
  if (!gz) throw new Error(`the archive lacks ${name}.gz`)
  return { br, gz, plain: new Uint8Array(zlib.gunzipSync(gz)) }
}

export function digestInHex(bytes: Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
}

/** Weak comparison (RFC 9110, section 13.1.2): proxies that compress turn a strong tag into a weak one. */
function hasTag(ifNoneMatch: string, etag: string): boolean {
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}

/** Whether Accept-Encoding has the coding, with a weight above 0. */
function accepts(header: string, coding: string): boolean {
  return header.split(',').some((item) => {
    const [name = '', weight = ''] = item.toLowerCase().split(';')
    return name.trim() === coding && !/^ *q=0(\.0*)? *$/.test(weight)
  })
}

function selectEncoding(accepted: string, { br, gz, plain }: ServedFile) {
  if (br && accepts(accepted, 'br')) return { coding: 'br', body: br }
  if (gz && accepts(accepted, 'gzip')) return { coding: 'gzip', body: gz }
  return { coding: null, body: plain }
}

/** Answers GET and HEAD. */
export function sendFile(request: Request, file: ServedFile, status = 200): Response {
  const { etag, type, isImmutable } = file
  const headers = new Headers({
    ...PAGE_HEADERS,
    etag,
    'content-type': type,
    vary: 'accept-encoding',
    'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
  })
  if (hasTag(request.headers.get('if-none-match') ?? '', etag))
    return new Response(null, { status: 304, headers })
  const { coding, body } = selectEncoding(request.headers.get('accept-encoding') ?? '', file)
  if (coding !== null) headers.set('content-encoding', coding)
  if (request.method !== 'HEAD') return new Response(body, { status, headers })
  headers.set('content-length', String(body.length))
  return new Response(null, { status, headers })
}
