/**
 * Certificates for servers on this machine: a temporary authority and its certificates. Used by the demo,
 * `cloakroom echo` and the tests; never for anything that others should trust.
 */
import type { X509Certificate } from '@peculiar/x509'
import { toBase64 } from '../../core/crypto/encoding.ts'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const DAY_MS = 86_400_000

export type Authority = {
  /** PEM. */
  certificate: string
  /** Signs a certificate for DNS names; PEM. Without names it has a common name only. */
  issue(names: readonly string[], options?: IssueOptions): Promise<{ cert: string; key: string }>
}

export type IssueOptions = { commonName?: string; notBefore?: Date; notAfter?: Date }

export async function createAuthority(
  name: string,
  options: IssueOptions = {},
): Promise<Authority> {
  const { X509CertificateGenerator, BasicConstraintsExtension } = await loadX509()
  const keys = await generate()
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    ...validity(options),
    signingAlgorithm: ALGORITHM,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  })
  return {
    certificate: certificate.toString('pem'),
    issue: (names, options = {}) => issue(certificate, keys.privateKey, names, options),
  }
}

async function issue(
  authority: X509Certificate,
  signingKey: CryptoKey,
  names: readonly string[],
  options: IssueOptions,
): Promise<{ cert: string; key: string }> {
  const { X509CertificateGenerator, SubjectAlternativeNameExtension } = await loadX509()
  const keys = await generate()
  const certificate = await X509CertificateGenerator.create({
    issuer: authority.subject,
    subject: `CN=${options.commonName ?? names[0] ?? 'localhost'}`,
    publicKey: keys.publicKey,
    signingKey,
    ...validity(options),
    signingAlgorithm: ALGORITHM,
    extensions:
      names.length === 0
        ? []
        : [
            new SubjectAlternativeNameExtension(
              names.map((value) => ({ type: 'dns' as const, value })),
            ),
          ],
  })
  const encoded = toBase64(await pkcs8Of(keys.privateKey))
  const key = `-----BEGIN PRIVATE KEY-----\n${encoded}\n-----END PRIVATE KEY-----\n`
  return { cert: certificate.toString('pem'), key }
}

/** The library needs its polyfill before it is evaluated, which a bundle does not promise otherwise. */
async function loadX509() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

async function pkcs8Of(key: CryptoKey): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.exportKey('pkcs8', key))
}

function generate(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
}

/** From an hour ago, because clocks differ, until a month from now. */
function validity({ notBefore, notAfter }: IssueOptions): { notBefore: Date; notAfter: Date } {
  return {
    notBefore: notBefore ?? new Date(Date.now() - DAY_MS / 24),
    notAfter: notAfter ?? new Date(Date.now() + 30 * DAY_MS),
  }
}
