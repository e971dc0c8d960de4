/** Roots as plaintexts, and a reader for them. */
import { generateKeyPairSync } from 'node:crypto'
import { utf8 } from '../../src/core/crypto/encoding.ts'
import type { DerivedKind } from '../../src/core/policy/policy.ts'
import { type Root, readRoot } from '../../src/derivation/root.ts'

const rsaPair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ecPair = generateKeyPairSync('ec', { namedCurve: 'P-256' })

export const rsa = {
  publicKey: rsaPair.publicKey,
  pkcs1: String(rsaPair.privateKey.export({ type: 'pkcs1', format: 'pem' })),
  pkcs8: String(rsaPair.privateKey.export({ type: 'pkcs8', format: 'pem' })),
}
export const ec = {
  publicKey: ecPair.publicKey,
  sec1: String(ecPair.privateKey.export({ type: 'sec1', format: 'pem' })),
  pkcs8: String(ecPair.privateKey.export({ type: 'pkcs8', format: 'pem' })),
}

export const samples = {
  oauth2: {
    token_url: 'https://localhost:8443/token',
    client_id: 'client-1',
    client_secret: 'client-secret-1',
  },
  github_app: {
    client_id: 'Iv1.0123456789abcdef',
    private_key: rsa.pkcs1,
    installation_id: 4711,
    api_url: 'https://localhost:8443/api/v3',
  },
  aws_role: {
    access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    role_arn: 'arn:aws:iam::123456789012:role/deploy',
    sts_url: 'https://localhost:8443/',
  },
} as const satisfies Record<DerivedKind, object>

export function encodeRoot(root: unknown): Uint8Array {
  return utf8(typeof root === 'string' ? root : JSON.stringify(root))
}

/** The sample of a kind with other fields; an undefined one is omitted. */
export function sampleRoot<K extends DerivedKind>(
  kind: K,
  change: Readonly<Record<string, unknown>> = {},
): Extract<Root, { kind: K }> {
  const plaintext = encodeRoot({ ...samples[kind], ...change })
  return readRoot(kind, plaintext, 'ROOT') as Extract<Root, { kind: K }>
}
