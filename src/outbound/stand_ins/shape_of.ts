/** Finds the shape of a value: what is said of it is in shape.ts, and nothing else of the value goes in. */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { fromUtf8 } from '../../platform/crypto/encoding.ts'
import { accountPartsOf, connectionFieldsOf, urlPartsOf } from './parts.ts'
import { knownPrefixOf } from './prefixes.ts'
import {
  type Alphabet,
  alphabets,
  type Part,
  type PrivateKeyPart,
  type RandomPart,
  type Shape,
  type Unshaped,
} from './shape.ts'

const MAX_BYTES = 32_768
/** Secret parts with fewer characters, or easier to guess, are drawn longer: their length is not told. */
const MIN_LENGTH = 16
const MIN_BITS = 64
const LENGTHENED = 22
const MAX_RSA_BITS = 4096

const PEM = /^-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----[A-Za-z0-9+/=\s]+-----END \1-----$/
const FORMATS = { 'RSA PRIVATE KEY': 'pkcs1', 'EC PRIVATE KEY': 'sec1' } as const
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const JWT = /^eyJ[\w-]*\.eyJ[\w-]*\.([\w-]+)$/
/** The shape of a value, or why it has none. Time is linear in its size. */
export function shapeOf(bytes: Uint8Array): Shape | Unshaped {
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

/** PEM as it is, or in one line as variables often have it. */
function keyIn(text: string): Shape | Unshaped {
  const isEscaped = text.includes('\\n')
  const part = privateKeyOf(isEscaped ? text.replaceAll('\\n', '\n') : text, isEscaped)
  return part ? [part] : 'key'
}

function privateKeyOf(pem: string, escaped: boolean): PrivateKeyPart | null {
  const [, label = ''] = PEM.exec(pem.trim()) ?? []
  if (label === '') return null
  try {
    const type = typeOf(createPrivateKey(pem))
    const format = Object.hasOwn(FORMATS, label) ? FORMATS[label as keyof typeof FORMATS] : 'pkcs8'
    return type && { ...type, format, escaped }
  } catch {
    return null
  }
}

function typeOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject) {
  const { modulusLength: bits = 0, namedCurve: curve = null } = details
  if (type === 'rsa' && bits <= MAX_RSA_BITS) return { private_key: type, bits, curve: null }
  if (type === 'ec' && curve !== null) return { private_key: type, bits: null, curve }
  return type === 'ed25519' ? { private_key: type, bits: null, curve: null } : null
}

/** The file of a Google service account: all of it but its key stays. */
function accountIn(text: string): Shape | Unshaped {
  const account = accountPartsOf(text)
  const key = account && privateKeyOf(account.pem, true)
  if (!key) return 'json'
  return [{ text: account.before }, { ...key, part: 'PRIVATE_KEY' }, { text: account.after }]
}

function uuidLike(text: string): Shape {
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

/** JSON Web Tokens, and what begins as a vendor's keys do. */
function tokenIn(text: string): Shape | null {
  return jsonWebTokenIn(text) ?? prefixedIn(text)
}

function jsonWebTokenIn(text: string): Shape | null {
  const [, signature = ''] = JWT.exec(text) ?? []
  const [head = '', claims = ''] = text.split('.')
  const jwt = memberOf(head, 'alg')
  if (signature === '' || typeof jwt !== 'string' || !/^[\w-]{1,16}$/.test(jwt)) return null
  const expires = memberOf(claims, 'exp')
  const isTime = typeof expires === 'number' && Number.isFinite(expires)
  return [{ jwt, expires: isTime ? expires : null, signature: signature.length }]
}

function memberOf(base64url: string, name: string): unknown {
  try {
    return JSON.parse(Buffer.from(base64url, 'base64url').toString())?.[name]
  } catch {
    return null
  }
}

function prefixedIn(text: string): Shape | null {
  const known = knownPrefixOf(text)
  if (!known) return null
  const rest = text.slice(known.prefix.length)
  const prefix: Part = { text: known.prefix }
  if (known.hasChecksum) {
    return [prefix, { random: 'base62', length: rest.length, checksum: 'crc32' }]
  }
  const { separator } = known
  if (separator === undefined) return [prefix, runOf(rest)]
  const runs = rest.split(separator).map((run): Part[] => [exactRunOf(run)])
  return [prefix, ...joined(runs, separator)]
}

/** Of a URL with user information the secret part; around it nothing that looks drawn stays either. */
function urlIn(text: string): Shape | Unshaped | null {
  const url = urlPartsOf(text)
  if (!url) return null
  const { scheme, user = '', password, hasColon, host, rest } = url
  if (user.length < MIN_LENGTH && !password) return 'url'
  const name: Part = password ? calm(user) : safeRunOf(user)
  return merged([
    { text: scheme },
    'random' in name ? { ...name, part: 'USER' } : name,
    { text: hasColon ? ':' : '' },
    ...(password ? [{ ...safeRunOf(password), part: 'PASSWORD' as const }] : []),
    { text: `@${host}` },
    ...rest.split(/([/?&=#])/).map(calm),
  ])
}

function connectionIn(text: string): Shape | null {
  const fields = connectionFieldsOf(text)
  const first = fields?.find(({ isSecret }) => isSecret)
  if (!fields || !first) return null
  const shapes = fields.map((field): Part[] => {
    const { name, value, isSecret } = field
    if (!isSecret) return [{ text: name }, calm(value)]
    return [{ text: name }, { ...runOf(value), ...(field === first ? { part: 'KEY' } : {}) }]
  })
  return merged(joined(shapes, ';'))
}

/** What looks drawn, with letters and digits and long enough to be a key, is drawn anew. */
function calm(text: string): Part {
  const looksDrawn = text.length >= MIN_LENGTH && /[0-9]/.test(text) && /[A-Za-z]/.test(text)
  return looksDrawn ? safeRunOf(text) : { text }
}

/** One run of random characters, with the padding of base64. */
function runOf(text: string): RandomPart {
  const [, run = '', padding = ''] = /^([A-Za-z0-9+/_-]+)(={1,2})$/.exec(text) ?? []
  if (run.length < MIN_LENGTH || text.length % 4 !== 0) return lengthened(text)
  const random = /[_-]/.test(run) ? 'base64url' : 'base64'
  return { random, length: run.length, padding: padding.length }
}

/** The same where nothing may stand that a URL reads. */
function safeRunOf(text: string): RandomPart {
  const run = lengthened(text)
  return {
    ...run,
    random: run.random === 'text' || run.random === 'base64' ? 'base62' : run.random,
  }
}

function lengthened(text: string): RandomPart {
  const run = exactRunOf(text)
  const bits = run.length * Math.log2(alphabets[run.random].length)
  const isShort = run.length < MIN_LENGTH || bits < MIN_BITS
  return isShort ? { ...run, length: LENGTHENED } : run
}

/** The least alphabet that has all characters. */
function exactRunOf(text: string): RandomPart {
  const characters = new Set(text)
  const [random = 'text'] = Object.entries(alphabets).flatMap(([name, all]) =>
    characters.isSubsetOf(new Set(all)) ? [name as Alphabet] : [],
  )
  return { random, length: [...text].length }
}

function joined(parts: readonly Part[][], separator: string): Part[] {
  return parts.flatMap((part, at) => (at === 0 ? part : [{ text: separator }, ...part]))
}

/** Without empty texts, and no two beside each other. */
function merged(parts: readonly Part[]): Shape {
  const shape: Part[] = []
  for (const part of parts) {
    const last = shape.at(-1)
    if ('text' in part && last && 'text' in last) last.text += part.text
    else if (!('text' in part) || part.text !== '') shape.push({ ...part })
  }
  return shape
}
