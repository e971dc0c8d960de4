/**
 * X25519 and Ed25519 from @noble/curves, behind the calls of `crypto.subtle` that this product and its HPKE library make.
 * The keys are then bytes in the worker's memory, like the seed, and cannot be stored.
 */
import { ed25519, x25519 } from '@noble/curves/ed25519.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { type Bytes, concat, toBase64Url } from '../../../core/crypto/encoding.ts'

const curves = { X25519: x25519, Ed25519: ed25519 }
type CurveName = keyof typeof curves

const KEY_BYTES = 32
/** RFC 8410, section 7: the PKCS#8 prefix of a private key. */
const PKCS8_PREFIX_BYTES = 16
const { Point } = ed25519

type Parts = {
  name: CurveName
  type: 'private' | 'public'
  bytes: Bytes
  extractable: boolean
  usages: KeyUsage[]
}

class CurveKey {
  readonly algorithm: { name: CurveName }
  readonly type: 'private' | 'public'
  readonly extractable: boolean
  readonly usages: KeyUsage[]
  readonly #bytes: Bytes

  constructor({ name, type, bytes, extractable, usages }: Parts) {
    this.algorithm = { name }
    this.type = type
    this.extractable = extractable
    this.usages = usages
    this.#bytes = bytes
  }

  get [Symbol.toStringTag]() {
    return 'CryptoKey'
  }

  static bytesOf(key: CurveKey): Bytes {
    return key.#bytes
  }
}

const privateKeyOf = (key: CurveKey) => CurveKey.bytesOf(key)
const publicKeyOf = (key: CurveKey): Bytes =>
  key.type === 'public'
    ? CurveKey.bytesOf(key)
    : Uint8Array.from(curves[key.algorithm.name].getPublicKey(CurveKey.bytesOf(key)))

/** Adds the missing curves. All other keys and algorithms stay with the browser. */
export function addCurves(there: { x25519: boolean; ed25519: boolean }): void {
  const names = new Set<unknown>([
    ...(there.x25519 ? [] : ['X25519']),
    ...(there.ed25519 ? [] : ['Ed25519']),
  ])
  const usesNoble = (given: unknown): boolean => {
    if (given instanceof CurveKey) return true
    return names.has(typeof given === 'string' ? given : Object(given).name)
  }
  const { subtle } = crypto
  for (const [method, replacement] of Object.entries(calls)) {
    const original: ((...given: unknown[]) => unknown) | undefined = Reflect.get(subtle, method)
    const value = async (...given: unknown[]) =>
      given.some(usesNoble)
        ? Reflect.apply(replacement, null, given)
        : original?.apply(subtle, given)
    Object.defineProperty(subtle, method, { value })
  }
}

const nameOf = (given: string | { name: string }) =>
  (typeof given === 'string' ? given : given.name) as CurveName

const calls = {
  generateKey: (given: { name: string } | string, extractable: boolean, usages: KeyUsage[]) => {
    const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
    const privateKey = new CurveKey({
      ...{ name: nameOf(given), type: 'private', bytes, extractable },
      usages: usages.filter((usage) => usage !== 'verify'),
    })
    return { privateKey, publicKey: toPublicKey(privateKey) }
  },
  importKey: (
    format: string,
    data: Uint8Array,
    given: { name: string } | string,
    extractable: boolean,
    usages: KeyUsage[],
  ) => {
    const isPrivate = format === 'pkcs8'
    const bytes = Uint8Array.from(isPrivate ? data.subarray(PKCS8_PREFIX_BYTES) : data)
    if (!(isPrivate || format === 'raw') || bytes.length !== KEY_BYTES) throw buildUnusableError()
    const type = isPrivate ? 'private' : 'public'
    return new CurveKey({ name: nameOf(given), type, bytes, extractable, usages })
  },
  exportKey: (format: string, key: CurveKey) => {
    if (!key.extractable) throw buildUnusableError('InvalidAccessError')
    if (format === 'raw' && key.type === 'public') return CurveKey.bytesOf(key).slice().buffer
    if (format !== 'jwk') throw buildUnusableError()
    const publicPart = { kty: 'OKP', crv: key.algorithm.name, x: toBase64Url(publicKeyOf(key)) }
    return key.type === 'public' ? publicPart : { ...publicPart, d: toBase64Url(privateKeyOf(key)) }
  },
  getPublicKey: (key: CurveKey) => toPublicKey(key),
  deriveBits: ({ public: theirs }: { public: CurveKey }, key: CurveKey) =>
    // Throws for a point of low order, as the browser does.
    Uint8Array.from(x25519.getSharedSecret(privateKeyOf(key), CurveKey.bytesOf(theirs))).buffer,
  sign: (_: unknown, key: CurveKey, data: Uint8Array) =>
    Uint8Array.from(ed25519.sign(Uint8Array.from(data), privateKeyOf(key))).buffer,
  verify: (_: unknown, key: CurveKey, signature: Uint8Array, data: Uint8Array) =>
    isSignature(CurveKey.bytesOf(key), Uint8Array.from(signature), Uint8Array.from(data)),
}

function toPublicKey(key: CurveKey): CurveKey {
  const { name } = key.algorithm
  const usages: KeyUsage[] = name === 'Ed25519' ? ['verify'] : []
  return new CurveKey({ name, type: 'public', bytes: publicKeyOf(key), extractable: true, usages })
}

/** Verifies without the cofactor (RFC 8032, section 5.1.7), like browsers. The library's own check accepts more. */
function isSignature(publicKey: Bytes, signature: Bytes, data: Bytes): boolean {
  const r = signature.slice(0, KEY_BYTES)
  const s = readLittleEndian(signature.subarray(KEY_BYTES))
  if (s >= Point.Fn.ORDER) return false
  try {
    const hash = readLittleEndian(sha512(concat(r, publicKey, data))) % Point.Fn.ORDER
    const found = Point.BASE.multiplyUnsafe(s).subtract(
      Point.fromBytes(publicKey).multiplyUnsafe(hash),
    )
    return found.toBytes().every((byte, at) => byte === r[at])
  } catch {
    // Not a point on the curve.
    return false
  }
}

function readLittleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytes.toReversed().toHex()}`)
}

function buildUnusableError(name = 'DataError'): DOMException {
  return new DOMException('this key cannot be used like this', name)
}
