/** A server whose certificate is not trusted is reached: what helps is another thing than a server that is down. */
import { CliError } from './cli_error.ts'

/** What is wrong with the certificate, by the codes of OpenSSL as Bun names them. */
const FAULTS: readonly (readonly [RegExp, fault: string, isUnknownIssuer: boolean])[] = [
  [/^(DEPTH_ZERO_|SELF_SIGNED_CERT)/, 'it is signed by itself or by an unknown authority', true],
  [/^UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/, 'its authority is not known on this machine', true],
  [/^ERR_TLS_CERT_ALTNAME_INVALID/, 'it is for another name than the address has', false],
  [/^CERT_HAS_EXPIRED/, 'it has expired', false],
  [/^CERT_NOT_YET_VALID/, "it is not valid yet, or this machine's clock is wrong", false],
  [/^(CERT_|UNABLE_TO_|ERR_TLS_CERT)/, 'it does not verify', false],
]

/** `null` for any other error. */
export function certificateFault(error: unknown): CliError | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const [, fault, isUnknownIssuer] = FAULTS.find(([pattern]) => pattern.test(code)) ?? []
  if (fault === undefined) return null
  const hint = isUnknownIssuer
    ? "if it is your own authority's, name its certificate: NODE_EXTRA_CA_CERTS=/path/to/ca.pem"
    : 'check the address with: cloakroom config; the certificate is to be renewed at the server'
  return new CliError(
    'untrusted_certificate',
    `the server was reached, and its certificate is not trusted: ${fault} (${code})`,
    hint,
  )
}
