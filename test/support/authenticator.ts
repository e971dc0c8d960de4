/**
 * A software authenticator, which holds passkeys of one host and performs a browser's requests: it creates keys
 * (ES256), signs, counts, and has a PRF. A test sets the parts that must be wrong.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import { concat, lp, toBase64Url, u32be, utf8 } from '../../src/core/crypto/encoding.ts'

export const ORIGIN = 'https://vault.example.com'

/** Parts that differ from a valid answer. */
export type Wrong = {
  origin?: string
  type?: string
  crossOrigin?: boolean
  rpId?: string
  /** The authenticator's flags about the person; UP 0x01 and UV 0x04. */
  flags?: number
  counter?: number
  fmt?: string
  attStmt?: Map<string, unknown>
  userHandle?: string
  signature?: string
}

const PRESENT_AND_VERIFIED = 0x05
const KEY_INCLUDED = 0x40

export type SoftPasskey = Awaited<ReturnType<typeof openPasskey>>

export async function openPasskey({ rpId = 'vault.example.com', id = randomBytes(32) } = {}) {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(
    { name: 'ECDSA', namedCurve: 'P-256' },
    true,
    ['sign', 'verify'],
  )
  const jwk = await crypto.subtle.exportKey('jwk', publicKey)
  const coordinate = (text = '') => new Uint8Array(Buffer.from(text, 'base64url'))
  const cose = new Map<number, number | Uint8Array>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, coordinate(jwk.x)],
    [-3, coordinate(jwk.y)],
  ])
  const credentialId = new Uint8Array(id)
  const prfKey = randomBytes(32)
  let counter = 0

  const clientData = (challenge: string, usual: string, wrong: Wrong) => {
    const { type = usual, origin = ORIGIN, crossOrigin = false } = wrong
    return utf8(JSON.stringify({ type, challenge, origin, crossOrigin }))
  }
  const authenticatorData = (more: number, rest: Uint8Array, wrong: Wrong) => {
    counter = wrong.counter ?? counter + 1
    const flags = (wrong.flags ?? PRESENT_AND_VERIFIED) | more
    const host = createHash('sha256')
      .update(wrong.rpId ?? rpId)
      .digest()
    return concat(host, Uint8Array.of(flags), u32be(counter), rest)
  }
  return {
    credentialId,
    id: toBase64Url(credentialId),
    /** The output of the PRF extension for this input; 32 bytes. */
    prf: (input: Uint8Array) =>
      new Uint8Array(createHmac('sha256', prfKey).update(lp('WebAuthn PRF', input)).digest()),
    /** The answer to `navigator.credentials.create`, in the form that a client sends. */
    create(challenge: string, wrong: Wrong = {}) {
      const length = new Uint8Array([credentialId.length >> 8, credentialId.length & 0xff])
      const key = isoCBOR.encode(cose)
      const attested = concat(new Uint8Array(16), length, credentialId, key)
      const attestation = new Map<string, unknown>([
        ['fmt', wrong.fmt ?? 'none'],
        ['attStmt', wrong.attStmt ?? new Map()],
        ['authData', authenticatorData(KEY_INCLUDED, attested, wrong)],
      ])
      return {
        id: toBase64Url(credentialId),
        client_data_json: toBase64Url(clientData(challenge, 'webauthn.create', wrong)),
        attestation_object: toBase64Url(
          new Uint8Array(isoCBOR.encode(attestation as Parameters<typeof isoCBOR.encode>[0])),
        ),
        transports: ['internal'],
      }
    },
    /** The answer to `navigator.credentials.get`. */
    async get(challenge: string, userHandle: string, wrong: Wrong = {}) {
      const data = authenticatorData(0, new Uint8Array(), wrong)
      const client = clientData(challenge, 'webauthn.get', wrong)
      const signed = concat(data, createHash('sha256').update(client).digest())
      const raw = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, signed)
      return {
        id: toBase64Url(credentialId),
        client_data_json: toBase64Url(client),
        authenticator_data: toBase64Url(data),
        signature: wrong.signature ?? toBase64Url(der(new Uint8Array(raw))),
        user_handle: wrong.userHandle ?? userHandle,
      }
    },
  }
}

/** Two numbers of 32 bytes as ASN.1, the form of WebAuthn signatures. */
function der(raw: Uint8Array): Uint8Array {
  const number = (bytes: Uint8Array) => {
    const start = bytes.findIndex((byte) => byte !== 0)
    const bare = bytes.subarray(start === -1 ? bytes.length - 1 : start)
    const padded = (bare[0] ?? 0) > 0x7f ? concat(Uint8Array.of(0), bare) : bare
    return concat(Uint8Array.of(2, padded.length), padded)
  }
  const both = concat(number(raw.subarray(0, 32)), number(raw.subarray(32)))
  return concat(Uint8Array.of(0x30, both.length), both)
}
