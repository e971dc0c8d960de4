// tier: quick
/** A fallback opens only for the sealing token, in its place, and unchanged. */
import { describe, expect, test } from 'bun:test'
import { createDecipheriv, hkdfSync } from 'node:crypto'
import {
  type Asked,
  type Holder,
  openFallback,
  sealFallback,
} from '../../src/client/delivery/fallback.ts'

const holder: Holder = { id: 'token-1', secret: new Uint8Array(32).fill(7) }
const asked: Asked = {
  server: 'https://a.example',
  workspace: '',
  project: 'p',
  environment: 'dev',
}
const kept = {
  values: {
    PAYMENTS: { value: 'žluť\n"', isSensitive: true },
    MODE: { value: '', isSensitive: false },
  },
  fetchedAt: new Date('2026-01-02T03:04:05.678Z'),
}
const sealed = sealFallback(holder, asked, kept)
const open = (text: string, from = holder, at = asked) => openFallback(from, at, text)

test('a fallback opens to the sealed values, and shows neither names nor values', () => {
  expect(open(sealed)).toEqual(kept)
  for (const text of ['PAYMENTS', '"MODE', 'žluť', Buffer.from('PAYMENTS').toString('base64')])
    expect(sealed).not.toContain(text)
})

test('the secret opens a fallback by its documented format alone', () => {
  const file = JSON.parse(sealed)
  const length = (text: string) => {
    const size = Buffer.alloc(4)
    size.writeUInt32BE(Buffer.byteLength(text))
    return Buffer.concat([size, Buffer.from(text)])
  }
  const { server, workspace, project, environment, fetched_at, salt } = file
  const bound = ['cloakroom/v1/fallback', '1', file.holder, server, workspace, project, environment]
  const bytes = Buffer.from(file.sealed, 'base64')
  const key = hkdfSync('sha256', holder.secret, Buffer.from(salt, 'base64'), bound[0] ?? '', 32)
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key), bytes.subarray(0, 12))
  decipher.setAAD(Buffer.concat([...bound, fetched_at, salt].map(length)))
  decipher.setAuthTag(bytes.subarray(-16))
  const text = decipher.update(bytes.subarray(12, -16)).toString() + decipher.final().toString()
  expect(JSON.parse(text)).toEqual(kept.values)
})

test('each file has its own key', () => {
  const again = JSON.parse(sealFallback(holder, asked, kept))
  const first = JSON.parse(sealed)
  expect([again.salt === first.salt, again.sealed === first.sealed]).toEqual([false, false])
})

describe('refused', () => {
  test('a fallback of another token, or with another secret, is rejected', () => {
    expect(() => open(sealed, { ...holder, id: 'token-2' })).toThrow('another token or account')
    const secret = new Uint8Array(32).fill(8)
    expect(() => open(sealed, { ...holder, secret })).toThrow('was altered')
  })

  test.each([
    ['server', 'https://b.example'],
    ['workspace', 'w'],
    ['project', ''],
    ['environment', 'prod'],
  ])('a fallback for another %s is rejected', (name, value) => {
    expect(() => open(sealed, holder, { ...asked, [name]: value })).toThrow(
      `belongs to another ${name}`,
    )
    // Changing the text of the file does not help either.
    const moved = JSON.stringify({ ...JSON.parse(sealed), [name]: value })
    expect(() => open(moved, holder, { ...asked, [name]: value })).toThrow('was altered')
  })

  test('a fallback with a younger date or any changed byte is rejected', () => {
    const file = JSON.parse(sealed)
    const changes = [
      { fetched_at: '2027-01-01T00:00:00.000Z' },
      { salt: Buffer.alloc(32).toString('base64') },
      { salt: 'x' },
      { sealed: file.sealed.replace(/^./, (first: string) => (first === 'A' ? 'B' : 'A')) },
      { sealed: file.sealed.slice(4) },
      { sealed: '' },
    ]
    for (const change of changes)
      expect(() => open(JSON.stringify({ ...file, ...change }))).toThrow('was altered')
  })

  test('a file that is not a fallback is rejected', () => {
    const { holder: _, ...without } = JSON.parse(sealed)
    const others = [
      '',
      'MINE=1\n',
      '[]',
      '{}',
      'null',
      JSON.stringify(without),
      JSON.stringify({ ...JSON.parse(sealed), cloakroom_fallback: 2 }),
      JSON.stringify({ ...JSON.parse(sealed), more: 1 }),
    ]
    for (const text of others) expect(() => open(text)).toThrow('is not a fallback file')
  })
})
