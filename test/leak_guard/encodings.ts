/**
 * Encoders for the tests of the leak guard, written independently of the tested decoders: each turns one character
 * into one of its escaped forms.
 */
import fc from 'fast-check'

type Encoder = (character: string) => string

const hex = (code: number, width: number) => code.toString(16).padStart(width, '0')
const unitsOf = (text: string) =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
const codeOf = (character: string) => character.codePointAt(0) ?? 0

const SHORT: Record<string, string> = { '"': '\\"', '\\': '\\\\', '/': '\\/' }
const NAMED: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '+': '&plus;',
  '/': '&sol;',
  '=': '&equals;',
}

export const plain: Encoder = (character) => character
export const percent: Encoder = (character) =>
  [...Buffer.from(character)].map((byte) => `%${hex(byte, 2)}`).join('')
export const percentUpper: Encoder = (character) => percent(character).toUpperCase()
export const unicode: Encoder = (character) =>
  unitsOf(character)
    .map((unit) => `\\u${hex(unit, 4)}`)
    .join('')
export const unicodeUpper: Encoder = (character) =>
  unitsOf(character)
    .map((unit) => `\\u${hex(unit, 4).toUpperCase()}`)
    .join('')
export const decimal: Encoder = (character) => `&#${codeOf(character)};`
export const zeroed: Encoder = (character) => `&#000${codeOf(character)};`
export const hexReference: Encoder = (character) => `&#X0${hex(codeOf(character), 2)};`
export const named: Encoder = (character) => NAMED[character] ?? decimal(character)
export const json: Encoder = (character) =>
  SHORT[character] ?? JSON.stringify(character).slice(1, -1)
export const form: Encoder = (character) => (character === ' ' ? '+' : percent(character))

export const ENCODERS = {
  plain,
  percent,
  percentUpper,
  unicode,
  unicodeUpper,
  decimal,
  zeroed,
  hexReference,
  named,
  json,
  form,
}

export function encodeAll(text: string, encoder: Encoder): string {
  return [...text].map(encoder).join('')
}

/**
 * The text with each character in its own form, chosen by fast-check. Characters that introduce escapes are always
 * escaped: otherwise the text would decode to something else.
 */
export function mixtureOf(text: string): fc.Arbitrary<string> {
  const characters = [...text]
  const choice = fc.constantFrom(...Object.values(ENCODERS))
  return fc
    .array(choice, { minLength: characters.length, maxLength: characters.length })
    .map((encoders) => characters.map((c, at) => escapedBy(encoders[at] ?? plain, c)).join(''))
}

/** Texts between brackets that no value of these tests contains or produces. */
export function framed(text: string): string {
  return `<<${text}>>`
}

function escapedBy(encoder: Encoder, character: string): string {
  const text = encoder(character)
  return text === character && '%\\&'.includes(character) ? percent(character) : text
}
