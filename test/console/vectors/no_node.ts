/** Replaces `node:crypto`: functions without a browser equivalent throw when they run. */
import { generateRandomBytes } from '../../../src/core/crypto/random.ts'

const missing = (): never => {
  throw new Error('no browser has node:crypto')
}

export {
  generateRandomBytes as randomBytes,
  missing as argon2,
  missing as createCipheriv,
  missing as createHmac,
  missing as createPrivateKey,
  missing as createPublicKey,
  missing as diffieHellman,
}
