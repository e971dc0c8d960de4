/**
 * The shape of a credential: all that it shares with its stand-in (docs/guides/proxy.md). An agent learns only this
 * about a value: prefixes that a vendor gives to all of its keys, the class of the characters and their number, the
 * type of a private key, and for URLs, connection strings and service account files the parts that a strict grammar of
 * the whole proves to be public.
 */
import { z } from 'zod'
import { partNames } from './parts.ts'

export const alphabets = {
  digits: '0123456789',
  hex: '0123456789abcdef',
  upper_hex: '0123456789ABCDEF',
  base32: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  lower: '0123456789abcdefghijklmnopqrstuvwxyz',
  upper: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  base62: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  base64url: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
  base64: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  /** For all other printable text: characters without a meaning in shells, URLs and JSON. */
  text: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._~',
} as const

export type Alphabet = keyof typeof alphabets

/** Equal in every stand-in of the value. */
const fixed = z.object({ text: z.string() })

/**
 * New in each stand-in, with a checksum as GitHub and npm write it, in the last six characters. A `part` can be
 * requested alone.
 */
const random = z.object({
  random: z.enum(Object.keys(alphabets) as [Alphabet, ...Alphabet[]]),
  length: z.number().int(),
  /** The number of `=` after base64. */
  padding: z.number().int().max(2).optional(),
  checksum: z.literal('crc32').optional(),
  part: z.enum(partNames).optional(),
})

/** A token of three parts. The second one states the value's expiry. */
const jsonWebToken = z.object({
  jwt: z.string(),
  expires: z.number().nullable(),
  signature: z.number().int(),
})

/** A new key of the same type, as PEM; `escaped` if its line breaks are written `\n`. */
const privateKey = z.object({
  private_key: z.enum(['rsa', 'ec', 'ed25519']),
  bits: z.number().int().nullable(),
  curve: z.string().nullable(),
  format: z.enum(['pkcs8', 'pkcs1', 'sec1']),
  escaped: z.boolean(),
  part: z.enum(partNames).optional(),
})

export const shape = z
  .array(z.union([fixed, random, jsonWebToken, privateKey]))
  .meta({ examples: [[{ text: 'sk_live_' }, { random: 'base62', length: 24 }]] })

export type StandInShape = z.output<typeof shape>
export type StandInPart = StandInShape[number]
export type RandomPart = z.output<typeof random>
export type PrivateKeyPart = z.output<typeof privateKey>

/** Reasons why a credential has no stand-in. */
export const unshaped = {
  empty: 'empty',
  binary: 'not text',
  long: 'longer than 32 KiB',
  lines: 'several lines, but not a private key',
  key: 'a key or certificate of an unsupported kind',
  json: 'JSON, so its secret part is unknown',
  url: 'a URL, so its secret part is unknown',
  unused: 'not usable in calls, by its policy',
  references: 'made of other secrets, which are set separately',
  approval: 'approved for each use: use its placeholder',
  kept: 'a setting that its policy excludes from environments',
  setting: 'a setting, but the token cannot read values',
  ambiguous: 'in several projects: choose one with --project',
  unreadable: 'altered or sealed with another key',
} as const

export type Unshaped = keyof typeof unshaped
export const unshapedCodes = Object.keys(unshaped) as [Unshaped, ...Unshaped[]]
