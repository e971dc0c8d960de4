// tier: quick
/** The console's files: their headers, caching and hash. */
import { beforeAll, expect, spyOn, test } from 'bun:test'
import zlib from 'node:zlib'
import { type Console, openConsole } from '../../src/console/serve.ts'
import { ensureConsole } from '../../src/dev/console.ts'

let served: Console

beforeAll(async () => {
  await ensureConsole()
  served = await openConsole()
})

const get = (path: string, headers: Record<string, string> = {}) =>
  served.respond(new Request(`https://vault.example/console/${path}`, { headers }))
const sha256 = (bytes: Uint8Array) => new Bun.CryptoHasher('sha256').update(bytes).digest('hex')

async function listed(): Promise<{ hash: string; name: string }[]> {
  const lines = (await get('SHA256SUMS').text()).trimEnd().split('\n')
  return lines.map((line) => ({ hash: line.slice(0, 64), name: line.slice(66) }))
}

/** Written out once more, so that each change is reviewed. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types cloakroom",
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy':
    'accelerometer=(), camera=(), clipboard-read=(), display-capture=(), fullscreen=(), geolocation=(), gyroscope=(), hid=(), magnetometer=(), microphone=(), midi=(), payment=(), picture-in-picture=(), screen-wake-lock=(), serial=(), usb=(), xr-spatial-tracking=(), clipboard-write=(self), publickey-credentials-create=(self), publickey-credentials-get=(self)',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

test('every answer has the headers that keep other pages and foreign scripts out', async () => {
  const etag = get('').headers.get('etag') ?? ''
  const answers = [
    ...(await listed()).map(({ name }) => get(name)),
    ...[get(''), get('SHA256SUMS'), get('w/1/secrets'), get('assets/gone-1.js')],
    get('', { 'if-none-match': etag }),
  ]
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 304, 404]))
  for (const { headers } of answers) expect(Object.fromEntries(headers)).toMatchObject(HEADERS)
})

test('the hash covers the list of files, and the list has the hash of each file in every encoding', async () => {
  expect(sha256(await get('SHA256SUMS').bytes())).toBe(served.hash)
  for (const { hash, name } of await listed()) {
    expect(sha256(await get(name).bytes())).toBe(hash)
    const zipped = await get(name, { 'accept-encoding': 'gzip' }).bytes()
    expect(sha256(Bun.gunzipSync(zipped))).toBe(hash)
    expect(get(name, { 'accept-encoding': 'gzip, br' }).headers.get('content-encoding')).toBe('br')
  }
})

test('files with a hash in their name are cached permanently, and the page is revalidated', async () => {
  const files = (await listed()).filter(({ name }) => name !== 'index.html')
  for (const { name } of files) {
    expect(get(name).headers.get('cache-control')).toContain('immutable')
  }
  const page = get('')
  expect(page.headers.get('cache-control')).toBe('no-cache')
  const again = get('', { 'if-none-match': page.headers.get('etag') ?? '' })
  expect([again.status, await again.text()]).toEqual([304, ''])
})

test('a path without a file serves the page, but a missing asset is 404', async () => {
  const page = await get('').text()
  for (const path of ['index.html', 'w/1/secrets?project=2', 'login', '../etc/passwd']) {
    expect(await get(path).text()).toBe(page)
  }
  expect(get('assets/gone-1.js').status).toBe(404)
})

test('GET and HEAD decompress no file, whatever encodings the client accepts', async () => {
  const files = await listed()
  const decompress = spyOn(zlib, 'gunzipSync')
  for (const { name } of files) {
    for (const accepted of ['', 'identity', 'gzip', 'br']) {
      for (const method of ['GET', 'HEAD']) {
        const headers = { 'accept-encoding': accepted }
        const asked = new Request(`https://vault.example/console/${name}`, { method, headers })
        expect((await served.respond(asked).bytes()).length > 0).toBe(method === 'GET')
      }
    }
  }
  expect(decompress).not.toHaveBeenCalled()
  decompress.mockRestore()
})
