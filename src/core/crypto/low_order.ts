/**
 * Public keys of low order: points with which X25519 gives one secret for every private key (RFC 7748, section 6.1), so
 * that anybody can open a message sealed to one. Nothing is stored or sealed for one.
 */

const FIELD = 2n ** 255n - 19n
const TOP_BIT = 2n ** 255n
/** The u coordinates of order 1, 2, 4 and 8, on the curve and on its twist. */
const LOW_ORDER = new Set([
  0n,
  1n,
  FIELD - 1n,
  0x00b8495f16056286fdb1329ceb8d09da6ac49ff1fae35616aeb8413b7c7aebe0n,
  0x57119fd0dd4e22d8868e1c58c45c44045bef839c55b1d0b1248c50a3bc959c5fn,
])

/**
 * Whether 32 bytes are such a point in any of its encodings: reduced or not, with the top bit, which
 * RFC 7748 ignores, or without it, and as implementations read them that do not ignore it.
 */
export function isLowOrder(publicKey: Uint8Array): boolean {
  const number = BigInt(`0x${publicKey.toReversed().toHex() || '0'}`)
  return LOW_ORDER.has(number % FIELD) || LOW_ORDER.has((number % TOP_BIT) % FIELD)
}
