import { randomBytes } from 'node:crypto'
import { x25519PublicKey } from '../../src/core/crypto/primitives.ts'
import type { RawKeyPair } from '../../src/core/crypto/token.ts'

/** A new X25519 key pair. Any 32 bytes are a private key (RFC 7748, section 5 clamps them). */
export function generateKeyPair(): RawKeyPair {
  const privateKey = new Uint8Array(randomBytes(32))
  return { privateKey, publicKey: x25519PublicKey(privateKey) }
}
