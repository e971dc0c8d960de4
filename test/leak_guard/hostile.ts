/**
 * Values and texts that make a search compare as much as possible: of repeated characters, of short periods, with
 * long common beginnings or ends, equal in the pre-check, and texts that miss them by one character.
 */
import { FORMS, type Form, WIDE } from './forms.ts'

/** Values, and the part that a text of them repeats. */
type Hostile = { readonly values: readonly string[]; readonly units: readonly string[] }

const COUNT = 200
const each = (make: (at: number) => string, count = COUNT) =>
  Array.from({ length: count }, (_, at) => make(at))
const key = (at: number) => Bun.hash(`key ${at}`).toString(36).padStart(13, '0').slice(0, 12)
const long = each(key, 40).join('')

export function fibonacciWord(order: number): string {
  let [shorter, longer] = ['b', 'a']
  for (let turn = 0; turn < order; turn++) [shorter, longer] = [longer, longer + shorter]
  return longer
}

function repeated(character: string, count: number, end = ''): Hostile {
  const value = `${character.repeat(count)}${end}`
  return { values: [value], units: [character, `${value.slice(0, -1)}-`] }
}

export const HOSTILE: Record<string, Hostile> = {
  'an ordinary value': {
    values: ['sk_live_4eC39HqLyjWDarjtT1zdp7dc'],
    units: ['a', 'V', 'UU', '0', '&', '\\', '%', '\0', 'sk_live_'],
  },
  '40 ampersands and a letter': repeated('&', 40, 'x'),
  '40 backslashes and a letter': repeated('\\', 40, 'x'),
  '40 percent signs and a letter': repeated('%', 40, 'x'),
  'one letter, 4,000 times': repeated('a', 4000),
  'one digit, 4,000 times': repeated('0', 4000),
  'base64 of itself in every phase, 4,000 times': repeated('V', 4000),
  'a period of two': repeated('ab', 2000, 'c'),
  'a Fibonacci word': {
    values: [fibonacciWord(18)],
    units: [fibonacciWord(20), `${fibonacciWord(17)}c`],
  },
  '200 that begin with one letter': {
    values: each((at) => `${'a'.repeat(8 + at)}b${at}`),
    units: ['a', `${'a'.repeat(207)}b`, `${'a'.repeat(30)}b`],
  },
  '200 with a long beginning in common': {
    values: each((at) => `${long}${key(at)}`),
    units: [long, `${long}-`, long.slice(0, 8), long.slice(0, 16)],
  },
  '200 with a long end in common': {
    values: each((at) => `${key(at)}${long}`),
    units: [`${key(3)}${long.slice(1)}`, each(key).join('')],
  },
  '200 that collide in the first look': {
    values: each((at) => `sk_live_${key(at)}${key(at + COUNT)}`),
    units: ['sk_live_', each((at) => `sk_live_${key(at).slice(0, 11)}-`).join('')],
  },
  '200 turns of one circle': {
    values: each((at) => 'abcdefghijk'.repeat(40).slice(at % 11, (at % 11) + 8 + at)),
    units: ['abcdefghijk', 'abcdefghij'],
  },
  'escapes of every kind': {
    values: ['a%b\\c&def12345'],
    units: ['a%b\\c&def12345', 'a%b\\c&def1234-'],
  },
  'escaped percent signs': repeated('%25', 1500, 'x'),
  'escaped ampersands': repeated('&amp;', 900, 'x'),
}

/** So long that its encoding has runs that are decoded. */
const LEAST_UNIT = 48
const lengthened = (unit: string) =>
  unit.length < LEAST_UNIT ? unit.repeat(Math.ceil(LEAST_UNIT / unit.length)) : unit

const { base64, hexadecimal, base32 } = FORMS
const percent = FORMS['percent, all']
const twice: [name: string, outer: Form | undefined, inner: Form | undefined][] = [
  ['base64 of base64', base64, base64],
  ['base64 of hexadecimal', base64, hexadecimal],
  ['base64 of base32', base64, base32],
  ['base64 of UTF-16', base64, WIDE['UTF-16LE']],
  ['hexadecimal of base64', hexadecimal, base64],
  ['hexadecimal of hexadecimal', hexadecimal, hexadecimal],
  ['percent of base64', percent, base64],
  ['percent of percent', FORMS['percent, URI component'], percent],
  ['HTML of HTML', FORMS.HTML, FORMS.HTML],
  ['HTML of HTML decimal', FORMS.HTML, FORMS['HTML decimal']],
  ['JSON of JSON', FORMS['JSON string'], FORMS['JSON, all']],
  ['UTF-16 of UTF-16', WIDE['UTF-16LE'], WIDE['UTF-16LE']],
]
const same: Form = (text) => text

/** Every searched encoding, and the most expensive pairs of them. */
export const WRITINGS: Record<string, Form> = {
  ...FORMS,
  ...WIDE,
  ...Object.fromEntries(
    twice.map(([name, outer = same, inner = same]) => [name, (text: string) => outer(inner(text))]),
  ),
}

/** A text of the given size that repeats the unit in this encoding. */
export function hostileText(unit: string, write: Form, bytes: number): Uint8Array {
  return new Uint8Array(Buffer.alloc(bytes, Buffer.from(write(lengthened(unit)), 'latin1')))
}
