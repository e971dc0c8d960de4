/**
 * Texts with a signature. The text is verified as received, and only if it is the RFC 8785 form of its parsed contents:
 * so it has no unparsed content, and no text has a second spelling.
 */
import canonicalize from 'canonicalize'
import type { z } from 'zod'
import { isSoundPoint, signEd25519, verifyEd25519 } from '../core/crypto/ed25519.ts'
import {
  type Bytes,
  concat,
  fromBase64,
  toBase64,
  toBase64Url,
  utf8,
} from '../core/crypto/encoding.ts'
import { isLowOrder } from '../core/crypto/low_order.ts'
import { webSha256 } from '../core/crypto/web_primitives.ts'
import { Refusal } from './refusal.ts'
import { type Kind, keysOf, schemas, type TextOf } from './texts.ts'

export type SignedText = { statement: string; signature: string }

const MAX_BYTES = 65_536
const SIGNATURE_LENGTH = 88

/** Signatures cover different bytes for each kind, so that no text passes as another kind. */
const prefixes: Record<Kind, Bytes> = {
  link: utf8('cloakroom/v2/link\n'),
  grant: utf8('cloakroom/v2/grant\n'),
  envelope: utf8('cloakroom/v2/envelope\n'),
  manifest: utf8('cloakroom/v2/manifest\n'),
  release: utf8('cloakroom/v3/release\n'),
}

/**
 * Parses a text before any of its contents is trusted.
 *
 * @throws Refusal `form`, `key`
 */
export function readText<K extends Kind>(kind: K, statement: string): TextOf<K> {
  // A text has at least as many bytes as UTF-16 units, so a text that is too long is not even encoded.
  const fits = statement.length <= MAX_BYTES && utf8(statement).length <= MAX_BYTES
  if (!fits) throw new Refusal('form')
  const text = parseText(schemas[kind], statement)
  if (text === null) throw new Refusal('form')
  for (const { signing_key, public_key } of keysOf(text)) {
    const isSound = signing_key === undefined || isSoundPoint(bytesOf(signing_key))
    if (!isSound || isLowOrder(bytesOf(public_key))) throw new Refusal('key')
  }
  return text
}

function parseText<T>(schema: z.ZodType<T>, statement: string): T | null {
  try {
    const text = schema.parse(JSON.parse(statement))
    return canonicalOf(text) === statement ? text : null
  } catch {
    return null
  }
}

/** RFC 8785. @throws Refusal `form` for a value without a canonical form, such as a lone surrogate */
function canonicalOf(text: unknown): string {
  try {
    return canonicalize(text) ?? ''
  } catch {
    throw new Refusal('form')
  }
}

/** The bytes of a field that its schema has found canonical. */
function bytesOf(text: string): Bytes {
  return fromBase64(text) ?? new Uint8Array(0)
}

/** @throws Refusal `signature` */
export async function requireSignature(
  kind: Kind,
  { statement, signature }: SignedText,
  signingKey: string,
): Promise<void> {
  const bytes = signature.length === SIGNATURE_LENGTH ? fromBase64(signature) : null
  const data = concat(prefixes[kind], utf8(statement))
  const isGood = bytes !== null && (await verifyEd25519(bytesOf(signingKey), data, bytes))
  if (!isGood) throw new Refusal('signature')
}

/** Returns the signed form of a text. @throws Refusal `form`, `key` for a text that verifiers reject */
export async function signText<K extends Kind>(
  kind: K,
  text: TextOf<K>,
  privateKey: CryptoKey,
): Promise<SignedText> {
  const statement = canonicalOf(text)
  readText(kind, statement)
  const signature = await signEd25519(privateKey, concat(prefixes[kind], utf8(statement)))
  return { statement, signature: toBase64(signature) }
}

/** Returns b64url of the SHA-256 of a text: `prev` and `head` name a link by it. */
export async function hashOf(statement: string): Promise<string> {
  return toBase64Url(await webSha256(utf8(statement)))
}
