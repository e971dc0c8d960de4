/**
 * Certificates of Cloakroom's own servers: the authorities that a person adds (`--ca-file`), and the fault of an
 * untrusted one. Such a server is reachable, so its remedy differs from that of an unreachable one.
 */
import { X509Certificate } from 'node:crypto'
import { getCACertificates } from 'node:tls'
import { setAuthorities } from './trust.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/**
 * Adds authorities for all connections to servers from now on (`trust.ts`). Returns whether the text is PEM
 * with certificates.
 */
export function trustAuthorities(pem: string): boolean {
  const added = pem.match(CERTIFICATE) ?? []
  if (added.length === 0 || !added.every(isCertificate)) return false
  setAuthorities([...getCACertificates('default'), ...added])
  return true
}

/** A text that the runtime cannot read would end each connection with another error. */
function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined
  } catch {
    return false
  }
}

/** The problems, by the OpenSSL codes in Bun. */
const FAULTS: readonly (readonly [RegExp, fault: string, isUnknownIssuer: boolean])[] = [
  [/^DEPTH_ZERO_SELF_SIGNED_CERT/, 'it is signed by itself', true],
  [
    /^(SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF))/,
    'its certificate authority is unknown on this machine',
    true,
  ],
  [/^ERR_TLS_CERT_ALTNAME_INVALID/, 'it is for another name', false],
  [/^CERT_HAS_EXPIRED/, "it has expired, or this machine's clock is wrong", false],
  [/^CERT_NOT_YET_VALID/, "it is not valid yet, or this machine's clock is wrong", false],
  [/^(CERT_|UNABLE_TO_|ERR_TLS_CERT)/, 'it does not verify', false],
]

/** A reachable server with an untrusted certificate. */
export class UntrustedCertificate extends Error {
  /** Whether naming its authority would help. */
  readonly isUnknownIssuer: boolean

  constructor(message: string, isUnknownIssuer: boolean, cause: unknown) {
    super(message, { cause })
    this.name = 'UntrustedCertificate'
    this.isUnknownIssuer = isUnknownIssuer
  }
}

/** The error of `fetch`, or a better one about the certificate. */
export function connectionFault(url: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const [, fault, isUnknownIssuer] = FAULTS.find(([pattern]) => pattern.test(code)) ?? []
  if (fault === undefined || isUnknownIssuer === undefined) return error
  const host = URL.parse(url)?.host ?? 'the server'
  const said = `${host} is reachable, but its certificate is not trusted: ${fault} (${code})`
  return new UntrustedCertificate(said, isUnknownIssuer, error)
}
