/** The type of a private key in PEM, which is all that its shape reveals. */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { PrivateKeyPart, StandInShape, Unshaped } from './shape.ts'

const MAX_RSA_BITS = 4096
const PEM = /^-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----[A-Za-z0-9+/=\s]+-----END \1-----$/
const FORMATS = { 'RSA PRIVATE KEY': 'pkcs1', 'EC PRIVATE KEY': 'sec1' } as const

/** PEM as it is, or in one line as variables often have it. */
export function keyIn(text: string): StandInShape | Unshaped {
  const isEscaped = text.includes('\\n')
  const part = privateKeyOf(isEscaped ? text.replaceAll('\\n', '\n') : text, isEscaped)
  return part ? [part] : 'key'
}

export function privateKeyOf(pem: string, escaped: boolean): PrivateKeyPart | null {
  const [, label = ''] = PEM.exec(pem.trim()) ?? []
  if (label === '') return null
  try {
    const type = typeOf(createPrivateKey(pem))
    const format = Object.hasOwn(FORMATS, label) ? FORMATS[label as keyof typeof FORMATS] : 'pkcs8'
    return type && { ...type, format, escaped }
  } catch {
    return null
  }
}

function typeOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject) {
  const { modulusLength: bits = 0, namedCurve: curve = null } = details
  if (type === 'rsa' && bits <= MAX_RSA_BITS) return { private_key: type, bits, curve: null }
  if (type === 'ec' && curve !== null) return { private_key: type, bits: null, curve }
  return type === 'ed25519' ? { private_key: type, bits: null, curve: null } : null
}
