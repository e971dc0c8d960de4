/**
 * Bindings: a MAC by a token's secret over the first link of a workspace, so that its bearer can trust the right chain
 * without having seen it before.
 */
import {
  type Bytes,
  fromBase64,
  fromBase64Url,
  toBase64,
  uuidToBytes,
} from '../core/crypto/encoding.ts'
import { webHkdf, webHmac, webVerifyHmac } from '../core/crypto/web_primitives.ts'
import { Refusal } from './refusal.ts'

type Token = { id: string; secret: Bytes }

/** `first` is the hash of the first link. */
export async function makeBinding(token: Token, first: string): Promise<string> {
  return toBase64(await webHmac(await deriveBindingKey(token), hashBytes(first)))
}

/** @throws Refusal `binding` */
export async function requireBinding(token: Token, first: string, binding: string): Promise<void> {
  const mac = fromBase64(binding)
  const isValid = mac && (await webVerifyHmac(await deriveBindingKey(token), mac, hashBytes(first)))
  if (!isValid) throw new Refusal('binding', undefined, 'the chain')
}

function deriveBindingKey({ id, secret }: Token): Promise<Bytes> {
  return webHkdf(secret, uuidToBytes(id), 'cloakroom/v2/token-binding')
}

function hashBytes(hash: string): Bytes {
  const bytes = fromBase64Url(hash)
  if (bytes === null) throw new TypeError('not a link hash')
  return bytes
}
