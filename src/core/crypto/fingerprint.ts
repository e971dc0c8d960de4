/**
 * Fingerprints of public keys, for two people to compare over another channel before one of them
 * seals a workspace key to the other: the server hands out public keys and could hand out its own.
 */
import type { Bytes } from './encoding.ts'
import { webSha256 } from './web_primitives.ts'

/**
 * SHA-256 of the 32 raw bytes of a public key, as 16 groups of 4 lower-case hex digits separated
 * by single spaces. Nothing is left out: a shortened fingerprint could be searched for.
 */
export async function fingerprint(publicKey: Bytes): Promise<string> {
  const digest = await webSha256(publicKey)
  return (digest.toHex().match(/.{4}/g) ?? []).join(' ')
}
