/** The alphabets of base64, base32 and hexadecimal, and how many digits make how many bytes. */

export type Scheme = {
  readonly digits: Uint8Array
  readonly bits: 4 | 5 | 6
  readonly phases: number
  /** Digits and bytes of a group. */
  readonly group: number
  readonly bytes: number
  readonly padded: boolean
}

/** In a table of digits: none. */
export const NO_DIGIT = 255

function digitsOf(...alphabets: string[]): Uint8Array {
  const digits = new Uint8Array(256).fill(NO_DIGIT)
  for (const alphabet of alphabets) {
    for (const [value, digit] of [...alphabet].entries()) digits[digit.charCodeAt(0)] = value
  }
  return digits
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const SIXTY_TWO = `${LETTERS}${LETTERS.toLowerCase()}0123456789`
const BASE32_DIGITS = `${LETTERS}234567`

export const BASE64: Scheme = {
  digits: digitsOf(`${SIXTY_TWO}+/`, `${SIXTY_TWO}-_`),
  bits: 6,
  phases: 4,
  group: 4,
  bytes: 3,
  padded: true,
}
export const BASE32: Scheme = {
  digits: digitsOf(BASE32_DIGITS, BASE32_DIGITS.toLowerCase()),
  bits: 5,
  phases: 1,
  group: 8,
  bytes: 5,
  padded: true,
}
/** For digits within a longer text: the first one may be at any position of a group. */
export const BASE32_WITHIN: Scheme = { ...BASE32, phases: BASE32.group }
export const HEX: Scheme = {
  digits: digitsOf('0123456789abcdef', '0123456789ABCDEF'),
  bits: 4,
  phases: 2,
  group: 2,
  bytes: 1,
  padded: false,
}
