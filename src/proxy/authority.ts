/**
 * The proxy's own certificate authority. With its key one can impersonate any https host to the programs that trust it,
 * so the key is made here, readable by its owner only, never leaves this machine, and only signs host names, no further
 * authorities or IP addresses. It is never installed system-wide; programs trust it through their environment
 * (src/proxy/trust.ts).
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { X509Certificate } from '@peculiar/x509'
import { systemClock } from '../core/clock.ts'
import { toBase64 } from '../core/crypto/encoding.ts'
import { LruMap } from '../core/lru.ts'

export type Leaf = { cert: string; key: string }

export type ProxyAuthority = {
  /** PEM, which programs have to trust. */
  certificate: string
  certificateFile: string
  /** A certificate for one host name, kept until a day before it expires. */
  leafFor(host: string): Promise<Leaf>
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const AUTHORITY_DAYS = 365
const LEAF_DAYS = 7
/** An authority with less time left than this is replaced when the proxy starts. */
const RENEW_DAYS = 30
const MAX_LEAVES = 256
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'
/**
 * RFC 5280, section 4.2.1.10: `excludedSubtrees` with 0.0.0.0/0 and ::/0, in DER. Each subtree is a
 * SEQUENCE with an iPAddress [7] of address and mask, all zero.
 */
const NAME_CONSTRAINTS = '2.5.29.30'
const NO_IP_ADDRESSES = Buffer.from(
  `3032a130300a8708${'00'.repeat(8)}30228720${'00'.repeat(32)}`,
  'hex',
)

/** Reads the authority of a directory, or makes one on first use and when it nears its end. */
export async function openAuthority(directory: string): Promise<ProxyAuthority> {
  const certificateFile = join(directory, 'ca.pem')
  const { certificate, key } = (await readStored(directory)) ?? (await createStored(directory))
  const expiry = { ms: (LEAF_DAYS - 1) * DAY_MS, clock: systemClock }
  const leaves = new LruMap<string, Promise<Leaf>>({ max: MAX_LEAVES, expiry })
  return {
    certificate: certificate.toString('pem'),
    certificateFile,
    // Simultaneous connections must get one certificate.
    leafFor: (host) => {
      const known = leaves.get(host)
      if (known) return known
      const leaf = issueLeaf(certificate, key, host)
      leaves.set(host, leaf)
      return leaf
    },
  }
}

type Stored = { certificate: X509Certificate; key: CryptoKey }

/** `null` when it is missing, when it nears its end, or when its key does not belong to it. */
async function readStored(directory: string): Promise<Stored | null> {
  const { X509Certificate } = await loadX509()
  const [certificateFile, keyFile] = [join(directory, 'ca.pem'), join(directory, 'ca.key')]
  if (!existsSync(certificateFile) || !existsSync(keyFile)) return null
  if ((statSync(keyFile).mode & 0o077) !== 0) {
    throw new Error(`${keyFile} is readable by other users: remove it to create a new one`)
  }
  const certificate = new X509Certificate(readFileSync(certificateFile, 'utf8'))
  if (certificate.notAfter.getTime() - Date.now() < RENEW_DAYS * DAY_MS) return null
  const der = Buffer.from(readFileSync(keyFile, 'utf8').replace(/-----.*-----|\s/g, ''), 'base64')
  const key = await crypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign'])
  return (await belongs(certificate, key)) ? { certificate, key } : null
}

async function belongs(certificate: X509Certificate, key: CryptoKey): Promise<boolean> {
  const probe = randomBytes(32)
  const publicKey = await certificate.publicKey.export(ALGORITHM, ['verify'])
  const signature = await crypto.subtle.sign(ALGORITHM, key, probe)
  return crypto.subtle.verify(ALGORITHM, publicKey, signature, probe)
}

async function createStored(directory: string): Promise<Stored> {
  const x509 = await loadX509()
  const keys = await generate()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    // The number distinguishes authorities of two machines, or two years, with one name.
    name: `CN=Cloakroom local proxy ${randomBytes(4).toString('hex')}`,
    keys,
    ...validity(AUTHORITY_DAYS),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      new x509.ExtendedKeyUsageExtension([SERVER_AUTH]),
      new x509.Extension(NAME_CONSTRAINTS, true, NO_IP_ADDRESSES),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  swapFile(join(directory, 'ca.key'), await pemOf(keys.privateKey), 0o600)
  swapFile(join(directory, 'ca.pem'), certificate.toString('pem'), 0o644)
  return { certificate, key: keys.privateKey }
}

async function issueLeaf(
  authority: X509Certificate,
  signingKey: CryptoKey,
  host: string,
): Promise<Leaf> {
  const x509 = await loadX509()
  const keys = await generate()
  const certificate = await x509.X509CertificateGenerator.create({
    issuer: authority.subject,
    // A common name has at most 64 characters; clients read the alternative name only.
    subject: 'CN=intercepted by the local proxy of cloakroom',
    publicKey: keys.publicKey,
    signingKey,
    ...validity(LEAF_DAYS),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([SERVER_AUTH]),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }]),
      // Python 3.13 and newer require it for certificates that are not self-signed.
      await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey),
    ],
  })
  return { cert: certificate.toString('pem'), key: await pemOf(keys.privateKey) }
}

/** The library needs its polyfill before it is evaluated, which a bundle does not promise otherwise. */
async function loadX509() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

function generate(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
}

async function pemOf(key: CryptoKey): Promise<string> {
  const der = toBase64(new Uint8Array(await crypto.subtle.exportKey('pkcs8', key)))
  const lines = der.match(/.{1,64}/g) ?? []
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`
}

/** Starts an hour ago, because clocks differ. */
function validity(days: number): { notBefore: Date; notAfter: Date } {
  return {
    notBefore: new Date(Date.now() - HOUR_MS),
    notAfter: new Date(Date.now() + days * DAY_MS),
  }
}

/** Replaces a file atomically. Two proxies that start together both get a valid pair. */
export function swapFile(path: string, content: string | Uint8Array, mode: number): void {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    const file = openSync(draft, 'wx', mode)
    try {
      writeFileSync(file, content)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    throw new Error(`${path} cannot be written (${code})`, { cause: error })
  }
}
