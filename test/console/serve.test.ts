/** The console as files: what a browser may do with them, how they are cached, and what their hash is. */
import { beforeAll, expect, test } from 'bun:test'
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

test('every file has the headers under which no other page and no foreign script comes near it', async () => {
  for (const { name } of await listed()) {
    const { headers } = get(name)
    const policy = headers.get('content-security-policy') ?? ''
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]) {
      expect(policy).toContain(part)
    }
    expect(policy).not.toMatch(/unsafe-inline|'unsafe-eval'|https?:|\*/)
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  }
})

test('its hash is that of the list, and the list that of the files, however they are sent', async () => {
  expect(sha256(await get('SHA256SUMS').bytes())).toBe(served.hash)
  for (const { hash, name } of await listed()) {
    expect(sha256(await get(name).bytes())).toBe(hash)
    const zipped = await get(name, { 'accept-encoding': 'gzip' }).bytes()
    expect(sha256(Bun.gunzipSync(zipped))).toBe(hash)
    expect(get(name, { 'accept-encoding': 'gzip, br' }).headers.get('content-encoding')).toBe('br')
  }
})

test('files with a hash in their name stay, and the page is asked for again', async () => {
  const files = (await listed()).filter(({ name }) => name !== 'index.html')
  for (const { name } of files) {
    expect(get(name).headers.get('cache-control')).toContain('immutable')
  }
  const page = get('')
  expect(page.headers.get('cache-control')).toBe('no-cache')
  const again = get('', { 'if-none-match': page.headers.get('etag') ?? '' })
  expect([again.status, await again.text()]).toEqual([304, ''])
})

test('what is no file is the page, but for what the page would load', async () => {
  const page = await get('').text()
  for (const path of ['index.html', 'w/1/secrets?project=2', 'login', '../etc/passwd']) {
    expect(await get(path).text()).toBe(page)
  }
  expect(get('assets/gone-1.js').status).toBe(404)
})
