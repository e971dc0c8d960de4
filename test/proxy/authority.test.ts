// tier: quick
/** The proxy's authority: what its key can sign, and for how long. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { openAuthority } from '../../src/proxy/authority.ts'

const DAY_MS = 86_400_000
const root = mkdtempSync(join(tmpdir(), 'cr-authority-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

function newDirectory(): string {
  return join(mkdtempSync(join(root, 'a-')), 'proxy')
}

function daysLeft(pem: string): number {
  return Math.round((new X509Certificate(pem).validToDate.getTime() - Date.now()) / DAY_MS)
}

describe('an authority', () => {
  test('an authority is created on first use, for a year, in files that only their owner can use', async () => {
    const directory = newDirectory()
    const { certificate, certificateFile } = await openAuthority(directory)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    expect(statSync(join(directory, 'ca.key')).mode & 0o777).toBe(0o600)
    expect(readFileSync(certificateFile, 'utf8')).toBe(certificate)
    expect(daysLeft(certificate)).toBe(365)
    expect(new X509Certificate(certificate).ca).toBe(true)
  })

  test('an authority is the same the next time, and signs for the same programs', async () => {
    const directory = newDirectory()
    const first = await openAuthority(directory)
    const second = await openAuthority(directory)
    expect(second.certificate).toBe(first.certificate)
    const leaf = new X509Certificate((await second.leafFor('api.example.com')).cert)
    expect(leaf.verify(new X509Certificate(first.certificate).publicKey)).toBe(true)
  })

  test('an authority with a key that others can read is not used', async () => {
    const directory = newDirectory()
    await openAuthority(directory)
    chmodSync(join(directory, 'ca.key'), 0o640)
    expect(openAuthority(directory)).rejects.toThrow('is readable by other users')
  })

  test('an authority with another key is replaced', async () => {
    const directory = newDirectory()
    const { certificate } = await openAuthority(directory)
    const other = newDirectory()
    await openAuthority(other)
    writeFileSync(join(directory, 'ca.key'), readFileSync(join(other, 'ca.key')))
    expect((await openAuthority(directory)).certificate).not.toBe(certificate)
  })
})

describe('a certificate', () => {
  let leaf: { cert: string; key: string }
  let authority: string
  let directory: string

  beforeAll(async () => {
    directory = newDirectory()
    const opened = await openAuthority(directory)
    authority = opened.certificate
    leaf = await opened.leafFor('api.example.com')
    expect(await opened.leafFor('api.example.com')).toBe(leaf)
  })

  test('a certificate is for one name and a week, and signs nothing', () => {
    const certificate = new X509Certificate(leaf.cert)
    expect(daysLeft(leaf.cert)).toBe(7)
    expect(certificate.subjectAltName).toBe('DNS:api.example.com')
    expect(certificate.ca).toBe(false)
  })

  test('a certificate is accepted for its name only', async () => {
    expect(await shakeHands(leaf, authority, 'api.example.com')).toBe('accepted')
    expect(await shakeHands(leaf, authority, 'www.example.com')).toBe(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    )
    const other = await createAuthority('other')
    expect(await shakeHands(leaf, other.certificate, 'api.example.com')).not.toBe('accepted')
  })

  test('a certificate for an IP address is invalid, even with the key of the authority', async () => {
    const forged = await forge(directory, { type: 'ip', value: '127.0.0.1' })
    // OpenSSL names the violation; BoringSSL rejects it because it supports constraints on DNS names only.
    expect(await shakeHands(forged, authority, '127.0.0.1')).toMatch(
      /^(excluded subtree violation|unsupported name constraint type)$/,
    )
    const named = await forge(directory, { type: 'dns', value: 'localhost' })
    expect(await shakeHands(named, authority, 'localhost')).toBe('accepted')
  })
})

type Name = { type: 'ip' | 'dns'; value: string }

/** A certificate that a thief of the key would make. */
async function forge(directory: string, name: Name): Promise<{ cert: string; key: string }> {
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const text = readFileSync(join(directory, 'ca.key'), 'utf8')
  const der = Buffer.from(text.replace(/-----.*-----|\s/g, ''), 'base64')
  const signingKey = await crypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign'])
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await x509.X509CertificateGenerator.create({
    issuer: new x509.X509Certificate(readFileSync(join(directory, 'ca.pem'), 'utf8')).subject,
    subject: 'CN=forged',
    publicKey: keys.publicKey,
    signingKey,
    notBefore: new Date(Date.now() - 1000),
    notAfter: new Date(Date.now() + DAY_MS),
    signingAlgorithm: algorithm,
    extensions: [new x509.SubjectAlternativeNameExtension([name])],
  })
  const exported = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey))
  const key = `-----BEGIN PRIVATE KEY-----\n${exported.toString('base64')}\n-----END PRIVATE KEY-----\n`
  return { cert: certificate.toString('pem'), key }
}

/** `accepted`, or the code with which a client rejects it. */
async function shakeHands(
  { cert, key }: { cert: string; key: string },
  ca: string,
  name: string,
): Promise<unknown> {
  const server = createServer({ cert, key }, (wire) => wire.end())
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const servername = name === '127.0.0.1' ? {} : { servername: name }
  const wire = connect({ host: '127.0.0.1', port, ca, ...servername })
  const outcome = await new Promise((resolve) => {
    wire.once('secureConnect', () => resolve('accepted'))
    wire.once('error', (error: Error & { code?: string }) =>
      resolve(error.code === 'UNSPECIFIED' ? error.message : error.code),
    )
  })
  wire.destroy()
  server.close()
  return outcome
}
