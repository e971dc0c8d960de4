// tier: quick
/** The trust store that Java reads, read the way the format describes (JavaKeyStore of the JDK). */
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { writeBundle, writeTrustStore } from '../../src/proxy/trust.ts'

const ARMOUR = /-----.*-----|\s/g

/** Certificates by alias; throws for an invalid format. */
function read(store: Buffer): Map<string, string> {
  let at = 0
  const take = (bytes: number) => {
    at += bytes
    return store.subarray(at - bytes, at)
  }
  const number = (bytes: number) => take(bytes).readUIntBE(0, bytes)
  const text = () => take(number(2)).toString()
  expect([number(4), number(4)]).toEqual([0xfeedfeed, 2])
  const entries = new Map<string, string>()
  for (let left = number(4); left > 0; left -= 1) {
    expect(number(4)).toBe(2)
    const alias = text()
    take(8)
    expect(text()).toBe('X.509')
    entries.set(alias, take(number(4)).toString('base64'))
  }
  const password = Buffer.from([...'changeit'].flatMap((letter) => [0, letter.charCodeAt(0)]))
  const digest = createHash('sha1')
    .update(Buffer.concat([password, Buffer.from('Mighty Aphrodite'), store.subarray(0, at)]))
    .digest()
  expect(store.subarray(at).equals(digest)).toBe(true)
  return entries
}

test('the trust store has each authority of the bundle once, under its own name', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'cr-trust-'))
  const [one = '', other = ''] = rootCertificates
  const named = join(directory, 'named.pem')
  await Bun.write(named, `# a comment\n${one}\n`)
  const bundle = writeBundle(directory, other, { SSL_CERT_FILE: named })
  const store = read(readFileSync(writeTrustStore(bundle)))
  expect([...store.values()]).toEqual([one, other].map((pem) => pem.replace(ARMOUR, '')))
  rmSync(directory, { recursive: true })
})
