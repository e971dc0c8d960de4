/**
 * Tokens (protocol 4). The secret part of a token is the key to the envelopes stored for it, so the server keeps only a
 * MAC of a hash of it (pepper.ts). A token with a wrong checksum is refused here, before any query. Parsing never
 * throws.
 */
import {
  type Bytes,
  bytesToUuid,
  crc32,
  decodeBase62,
  encodeBase62,
  u32be,
  uuidToBytes,
  uuidv7,
} from './encoding.ts'
import { hkdf, KEY_BYTES, sha256, x25519PublicKey } from './primitives.ts'
import { generateRandomBytes } from './random.ts'

/** Agent, workload, session, refresh, and the sealed form that authenticates without decrypting. */
export type TokenKind = 'agt' | 'wkl' | 'ses' | 'ref' | 'sea'

/** `id` is the lower-case UUID, `secret` 32 bytes (of kind `sea`: the tokenAuth itself). */
export type ParsedToken = { kind: TokenKind; id: string; secret: Uint8Array }

/** An X25519 key pair as 32 raw bytes each. */
export type RawKeyPair = { privateKey: Uint8Array; publicKey: Uint8Array }

/**
 * Finds every token in a text, for log redaction and secret scanners. It has no borders on
 * purpose: a token that is glued to other characters is still a leaked token. It carries the
 * global flag: use it with `matchAll` and `replaceAll`, not with the stateful `test`.
 */
export const TOKEN_PATTERN = /svc_(?:agt|wkl|ses|ref|sea)_[0-9A-Za-z]{71}/g

const WHOLE_TOKEN =
  /^svc_(?<kind>agt|wkl|ses|ref|sea)_(?<id>[0-9A-Za-z]{22})(?<secret>[0-9A-Za-z]{43})(?<checksum>[0-9A-Za-z]{6})$/
const ID_BYTES = 16
const ID_CHARACTERS = 22
const SECRET_CHARACTERS = 43
const CHECKSUM_CHARACTERS = 6

/** A new token. Sealed tokens are derived with `sealedToken`, never minted. */
export function mintToken(
  kind: Exclude<TokenKind, 'sea'>,
  id: string = uuidv7(),
): { id: string; secret: Bytes; text: string } {
  const secret = generateRandomBytes(KEY_BYTES)
  return { id, secret, text: formatToken(kind, id, secret) }
}

/** The text of a token. Throws for an id that is no UUID or a secret that is not 32 bytes. */
export function formatToken(kind: TokenKind, id: string, secret: Uint8Array): string {
  if (secret.length !== KEY_BYTES) throw new RangeError('a token secret has 32 bytes')
  const identity = encodeBase62(uuidToBytes(id), ID_CHARACTERS)
  const body = `svc_${kind}_${identity}${encodeBase62(secret, SECRET_CHARACTERS)}`
  return body + checksumOf(body)
}

/** The parts of a token, or `null` for wrong length, alphabet, overflow or checksum. */
export function parseToken(text: string): ParsedToken | null {
  const parts = WHOLE_TOKEN.exec(text)?.groups
  if (!parts || !isTokenKind(parts.kind)) return null
  if (parts.checksum !== checksumOf(text.slice(0, -CHECKSUM_CHARACTERS))) return null
  const id = decodeBase62(parts.id ?? '', ID_BYTES)
  const secret = decodeBase62(parts.secret ?? '', KEY_BYTES)
  if (id === null || secret === null) return null
  return { kind: parts.kind, id: bytesToUuid(id), secret }
}

/** Returns the secret part of a token's text. Anyone who has it can create the token. */
export function secretTextOf(text: string): string {
  return text.slice(-CHECKSUM_CHARACTERS - SECRET_CHARACTERS, -CHECKSUM_CHARACTERS)
}

function checksumOf(body: string): string {
  return encodeBase62(u32be(crc32(body)), CHECKSUM_CHARACTERS)
}

function isTokenKind(kind: string | undefined): kind is TokenKind {
  return kind === 'agt' || kind === 'wkl' || kind === 'ses' || kind === 'ref' || kind === 'sea'
}

/** Derives the proof of a token: HKDF of its secret, useless for decryption. */
export function tokenAuth(id: string, secret: Uint8Array): Uint8Array {
  return hkdf(secret, uuidToBytes(id), 'cloakroom/v1/token-auth')
}

/** Returns what the server receives of a token: SHA-256(tokenAuth), 32 bytes. */
export function verifierOf(auth: Uint8Array): Uint8Array {
  return sha256(auth)
}

/** Returns the key pair that the token's envelopes are sealed to. */
export function tokenKeyPair(id: string, secret: Uint8Array): RawKeyPair {
  const privateKey = tokenPrivateKey(id, secret)
  return { privateKey, publicKey: x25519PublicKey(privateKey) }
}

/** Returns the private key of the pair. */
export function tokenPrivateKey(id: string, secret: Uint8Array): Uint8Array {
  return hkdf(secret, uuidToBytes(id), 'cloakroom/v1/token-x25519')
}

/** The `svc_sea_` form: authenticates as the token but cannot open its envelopes. */
export function formatSealedToken(id: string, secret: Uint8Array): string {
  return formatToken('sea', id, tokenAuth(id, secret))
}

/** The verifier of a token that is presented, in either form. */
export function deriveVerifier({ kind, id, secret }: ParsedToken): Uint8Array {
  return verifierOf(kind === 'sea' ? secret : tokenAuth(id, secret))
}
