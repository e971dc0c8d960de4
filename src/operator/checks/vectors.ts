/** Checks the cryptography of this machine against published examples of the standards. */
import { argon2 } from 'node:crypto'
import { promisify } from 'node:util'
import { signEd25519, signingKeyOf, verifyEd25519 } from '../../core/crypto/ed25519.ts'
import * as ours from '../../core/crypto/primitives.ts'
import { Failed } from './check.ts'

type Primitives = Pick<
  typeof ours,
  'sha256' | 'hkdf' | 'hmac' | 'sealGcm' | 'openGcm' | 'x25519'
> & {
  sign(secret: Uint8Array, data: Uint8Array<ArrayBuffer>): Promise<Uint8Array>
  argon2id(): Promise<Uint8Array>
}

const hex = (text: string) => Uint8Array.fromHex(text)
const NOTHING = new Uint8Array()

export const primitives: Primitives = {
  ...ours,
  sign: async (secret, data) => {
    const { privateKey, publicKey } = await signingKeyOf(secret)
    const signature = await signEd25519(privateKey, data)
    return (await verifyEd25519(publicKey, data, signature)) ? signature : NOTHING
  },
  argon2id: () =>
    promisify(argon2)('argon2id', {
      message: new Uint8Array(32).fill(1),
      nonce: new Uint8Array(16).fill(2),
      secret: new Uint8Array(8).fill(3),
      associatedData: new Uint8Array(12).fill(4),
      parallelism: 4,
      tagLength: 32,
      memory: 32,
      passes: 3,
    }),
}

/** Returns for each example its name, its result, and the expected result (test/vectors has these and more). */
function vectorsOf(p: Primitives): [name: string, made: () => unknown, expected: string][] {
  const [zeros, nonce] = [new Uint8Array(32), new Uint8Array(12)]
  const sealed = 'cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919'
  return [
    [
      'SHA-256',
      () => p.sha256('abc'),
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    ],
    [
      'HMAC (RFC 4231)',
      () => p.hmac(new Uint8Array(20).fill(0x0b), new TextEncoder().encode('Hi There')),
      'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    ],
    [
      'HKDF (RFC 5869)',
      () =>
        p.hkdf(
          new Uint8Array(22).fill(0x0b),
          hex('000102030405060708090a0b0c'),
          hex('f0f1f2f3f4f5f6f7f8f9'),
        ),
      '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf',
    ],
    ['AES-256-GCM', () => p.sealGcm(zeros, nonce, NOTHING, new Uint8Array(16)), sealed],
    ['AES-256-GCM, opened', () => p.openGcm(zeros, nonce, NOTHING, hex(sealed)), '00'.repeat(16)],
    ['AES-256-GCM, changed', () => p.openGcm(zeros, nonce, hex('00'), hex(sealed)), 'null'],
    [
      'X25519 (RFC 7748)',
      () =>
        p.x25519(
          hex('77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a'),
          hex('de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f'),
        ).shared,
      '4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742',
    ],
    [
      'Ed25519 (RFC 8032)',
      () =>
        p.sign(
          hex('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb'),
          Uint8Array.of(0x72),
        ),
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    ],
    [
      'Argon2id (RFC 9106)',
      () => p.argon2id(),
      '0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659',
    ],
  ]
}

/** @throws Failed with the names of wrong results */
export async function checkVectors(p: Primitives = primitives): Promise<string> {
  const vectors = vectorsOf(p)
  const wrong: string[] = []
  for (const [name, make, expected] of vectors) {
    const made = await make()
    const text = made instanceof Uint8Array ? Buffer.from(made).toString('hex') : String(made)
    if (text !== expected) wrong.push(name)
  }
  if (wrong.length > 0) throw new Failed(`wrong results on this machine: ${wrong.join(', ')}`)
  return `${vectors.length} published test vectors passed`
}
