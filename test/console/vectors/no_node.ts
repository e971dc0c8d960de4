/** In the place of `node:crypto`: what a browser has no likeness of says so when it runs. */
import { randomBytes } from '../../../src/core/crypto/random.ts'

const missing = (): never => {
  throw new Error('no browser has node:crypto')
}

export {
  missing as argon2,
  missing as createCipheriv,
  missing as createHmac,
  missing as createPrivateKey,
  missing as createPublicKey,
  missing as diffieHellman,
  randomBytes,
}
