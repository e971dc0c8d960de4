/**
 * Finds the shape of a value. Fixed text in it is public by its form: a prefix in prefixes.ts, a separator, and for
 * compound values the parts that the grammars in compounds.ts and account.ts allow.
 */
import { fromUtf8 } from '../../core/crypto/encoding.ts'
import { accountIn } from './account.ts'
import { connectionIn, urlIn } from './compounds.ts'
import { knownPrefixOf } from './prefixes.ts'
import { keyIn } from './private_key.ts'
import { exactRunOf, joinParts, runOf } from './runs.ts'
import type { StandInPart, StandInShape, Unshaped } from './shape.ts'

const MAX_BYTES = 32_768

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const JWT = /^eyJ[\w-]*\.eyJ[\w-]*\.([\w-]+)$/
/** Registered ones: any other text in that place is the value's own. */
const ALGORITHM = /^([HREP]S(256|384|512)|ES256K|EdDSA|Ed25519)$/

/** Returns the shape of a value, or the reason for a missing one. Time is linear in its size. */
export function shapeOf(bytes: Uint8Array): StandInShape | Unshaped {
  if (bytes.length > MAX_BYTES) return 'long'
  const text = fromUtf8(bytes)?.trim() ?? null
  if (text === null || text.includes('\0')) return 'binary'
  if (text === '') return 'empty'
  if (text.startsWith('-----BEGIN ')) return keyIn(text)
  if (/^[[{]/.test(text)) return accountIn(text)
  if (/\p{Cc}/u.test(text)) return 'lines'
  if (UUID.test(text)) return uuidLike(text)
  return tokenIn(text) ?? urlIn(text) ?? connectionIn(text) ?? [runOf(text)]
}

function uuidLike(text: string): StandInShape {
  const random = text === text.toUpperCase() ? 'upper_hex' : 'hex'
  return [
    { random, length: 8 },
    { text: '-' },
    { random, length: 4 },
    { text: '-4' },
    { random, length: 3 },
    { text: random === 'hex' ? '-a' : '-A' },
    { random, length: 3 },
    { text: '-' },
    { random, length: 12 },
  ]
}

/** Returns the shape of JSON Web Tokens, and of texts with a vendor's prefix. */
function tokenIn(text: string): StandInShape | null {
  return jsonWebTokenIn(text) ?? installationTokenIn(text) ?? findPrefixedShape(text)
}

/** Returns the shape of a GitHub App's token since April 2026: `ghs_`, the number of the App, and a JSON Web Token. */
function installationTokenIn(text: string): StandInShape | null {
  const [, app = '', token = ''] = /^ghs_([0-9]{1,20})_(eyJ.*)$/.exec(text) ?? []
  const jwt = jsonWebTokenIn(token)
  return jwt && [{ text: 'ghs_' }, { random: 'digits', length: app.length }, { text: '_' }, ...jwt]
}

function jsonWebTokenIn(text: string): StandInShape | null {
  const [, signature = ''] = JWT.exec(text) ?? []
  const [head = '', claims = ''] = text.split('.')
  const jwt = memberOf(head, 'alg')
  if (signature === '' || typeof jwt !== 'string' || !ALGORITHM.test(jwt)) return null
  const expires = memberOf(claims, 'exp')
  const isTime = Number.isSafeInteger(expires)
  return [{ jwt, expires: isTime ? Number(expires) : null, signature: signature.length }]
}

function memberOf(base64url: string, name: string): unknown {
  try {
    return JSON.parse(Buffer.from(base64url, 'base64url').toString())?.[name]
  } catch {
    return null
  }
}

function findPrefixedShape(text: string): StandInShape | null {
  const known = knownPrefixOf(text)
  if (!known) return null
  const rest = text.slice(known.prefix.length)
  const prefix: StandInPart = { text: known.prefix }
  if (known.hasChecksum) {
    return [prefix, { random: 'base62', length: rest.length, checksum: 'crc32' }]
  }
  const { separator } = known
  if (separator === undefined) return [prefix, runOf(rest)]
  const runs = rest.split(separator).map((run): StandInPart[] => [exactRunOf(run)])
  return [prefix, ...joinParts(runs, separator)]
}
