/**
 * Fingerprints of public keys, for two people to compare over another channel before one of them
 * seals a workspace key to the other: the server hands out public keys and could hand out its own.
 */
import { sha256 } from './primitives.ts'

/**
 * SHA-256 of the 32 raw bytes of a public key, as 16 groups of 4 lower-case hex digits separated
 * by single spaces. Nothing is left out: a shortened fingerprint could be searched for.
 */
export function fingerprint(publicKey: Uint8Array): string {
  return (sha256(publicKey).toHex().match(/.{4}/g) ?? []).join(' ')
}
