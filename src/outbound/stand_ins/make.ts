/** Creates a stand-in from a shape: random where the value is secret. */
import { generateKeyPair, randomBytes, randomInt } from 'node:crypto'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import type { PartName } from './parts.ts'
import {
  type Alphabet,
  alphabets,
  type PrivateKeyPart,
  type RandomPart,
  type StandInPart,
  type StandInShape,
} from './shape.ts'

const CHECKSUM_LENGTH = 6

export type DrawnStandIn = {
  text: string
  /** Parts that a client extracts from the stand-in. */
  parts: readonly { name: PartName; text: string }[]
}

export async function drawStandIn(shape: StandInShape): Promise<DrawnStandIn> {
  const pieces = await Promise.all(shape.map(textOf))
  const parts = shape.flatMap((piece, at) => {
    const name = 'part' in piece ? piece.part : undefined
    return name ? [{ name, text: pieces[at] ?? '' }] : []
  })
  const written = pieces.map((text, at) => (isEscaped(shape[at]) ? escapeText(text) : text))
  return { text: written.join(''), parts }
}

async function textOf(piece: StandInPart): Promise<string> {
  if ('text' in piece) return piece.text
  if ('jwt' in piece) return jsonWebToken(piece)
  if ('private_key' in piece) return generatePrivateKey(piece)
  if (piece.checksum) return checkedOf(piece)
  return drawCharacters(piece.random, piece.length) + '='.repeat(piece.padding ?? 0)
}

function isEscaped(piece: StandInPart | undefined): boolean {
  return piece !== undefined && 'escaped' in piece && piece.escaped
}

function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function drawCharacters(name: Alphabet, length: number): string {
  const isBase64 = name === 'base64' || name === 'base64url'
  // As an encoder writes it, for strict decoders; no encoding has 4n+1 characters.
  if (isBase64 && length % 4 !== 1) {
    const text = randomBytes(Math.floor((length * 3) / 4)).toString(name)
    return text.replaceAll('=', '')
  }
  const alphabet = alphabets[name]
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

/** The CRC-32 of the characters before it, in base 62. */
function checkedOf({ random, length }: RandomPart): string {
  const text = drawCharacters(random, length - CHECKSUM_LENGTH)
  let checksum = ''
  for (let rest = crc32(text); checksum.length < CHECKSUM_LENGTH; rest = Math.floor(rest / 62)) {
    checksum = `${alphabets.base62[rest % 62]}${checksum}`
  }
  return text + checksum
}

/**
 * The random id is first, so that no stretch of 16 characters equals that of the usual headers, which the leak guard
 * would take for a piece of the value.
 */
function jsonWebToken({ jwt, expires, signature }: Extract<StandInPart, { jwt: string }>): string {
  const header = { kid: drawCharacters('hex', 16), typ: 'JWT', alg: jwt }
  const claims = { jti: drawCharacters('hex', 32), ...(expires === null ? {} : { exp: expires }) }
  const parts = [header, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  return [...parts, drawCharacters('base64url', signature)].join('.')
}

const generate = promisify(generateKeyPair)

async function generatePrivateKey(part: PrivateKeyPart): Promise<string> {
  const key = await createKeyPair(part)
  return key
    .export({ type: part.format as 'pkcs8', format: 'pem' })
    .toString()
    .trim()
}

async function createKeyPair({ private_key, bits, curve }: PrivateKeyPart) {
  if (private_key === 'rsa')
    return (await generate('rsa', { modulusLength: bits ?? 2048 })).privateKey
  if (private_key === 'ec')
    return (await generate('ec', { namedCurve: curve ?? 'P-256' })).privateKey
  return (await generate('ed25519')).privateKey
}
