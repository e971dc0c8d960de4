/** JSON Web Tokens by which a client or an app proves its identity (RFC 7523). */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { Fault } from '../core/fault.ts'

const MIN_RSA_BITS = 2_048

type Algorithm = 'RS256' | 'ES256'

/**
 * Signs claims with a PEM key: RS256 with RSA, ES256 with P-256.
 *
 * @throws Fault `unusable_secret` for any other key, and for one that `only` excludes
 */
export async function signAssertion(
  claims: Readonly<Record<string, string | number>>,
  pem: string,
  { keyId = null, only }: { keyId?: string | null; only?: Algorithm } = {},
): Promise<string> {
  const key = readKey(pem)
  const alg = key && algorithmOf(key)
  if (!key || !alg || (only && alg !== only)) throw buildUnusableKeyFault(only)
  // Loaded on first use: most processes never derive anything.
  const { SignJWT } = await import('jose')
  const header = { alg, typ: 'JWT', ...(keyId !== null && { kid: keyId }) }
  return new SignJWT({ ...claims }).setProtectedHeader(header).sign(key)
}

function readKey(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem)
  } catch {
    return null
  }
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): Algorithm | null {
  if (asymmetricKeyType === 'rsa') {
    return (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS ? 'RS256' : null
  }
  const isP256 = asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1'
  return isP256 ? 'ES256' : null
}

function buildUnusableKeyFault(only: Algorithm | undefined): Fault {
  const rsa = 'an RSA key of at least 2,048 bits'
  const form = only === 'RS256' ? rsa : `${rsa} or an EC key of the curve P-256`
  return new Fault('unusable_secret', { message: `private_key must be ${form}, in PEM.` })
}
