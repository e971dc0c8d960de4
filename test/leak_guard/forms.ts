/** The forms of a value of protocol 6.1, written independently of the decoders. */

export type Form = (value: string) => string

const bytesOf = (value: string) => Buffer.from(value)
const eachCharacter = (write: (character: string) => string) => (value: string) =>
  [...value].map(write).join('')
const eachByte = (write: (byte: number) => string) => (value: string) =>
  [...bytesOf(value)].map(write).join('')
const hex = (number: number, width: number) => number.toString(16).padStart(width, '0')
const percent = eachByte((byte) => `%${hex(byte, 2)}`)
const unicode = (value: string) =>
  Array.from(value.split(''), (unit) => `\\u${hex(unit.charCodeAt(0), 4)}`).join('')
const base32 = (bytes: Uint8Array) => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits.match(/.{1,5}/g) ?? []
  return digits
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('')
}

/** Escapes of all characters or some. */
export const ESCAPES: Record<string, Form> = {
  'percent, all': percent,
  'percent, upper case': (value) => percent(value).toUpperCase(),
  'percent, URI component': encodeURIComponent,
  form: (value) => new URLSearchParams({ '': value }).toString().slice(1),
  'JSON string': (value) => JSON.stringify(value).slice(1, -1),
  'JSON, all': unicode,
  'JSON, some': (value) =>
    [...value]
      .map((one, at) => (at % 3 === 1 ? unicode(one) : JSON.stringify(one).slice(1, -1)))
      .join(''),
  'JavaScript \\x': eachByte((byte) => `\\x${hex(byte, 2)}`),
  'JavaScript \\u{}': eachCharacter((one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`),
  HTML: Bun.escapeHTML,
  'HTML decimal': eachCharacter((one) => `&#${one.codePointAt(0)};`),
  'HTML hexadecimal': eachCharacter((one) => `&#x${(one.codePointAt(0) ?? 0).toString(16)};`),
}
/** Encodings of the bytes. */
export const ENCODINGS: Record<string, Form> = {
  base64: (value) => bytesOf(value).toString('base64'),
  'base64 without padding': (value) => bytesOf(value).toString('base64').replaceAll('=', ''),
  base64url: (value) => bytesOf(value).toString('base64url'),
  'base64 in lines': (value) =>
    (
      bytesOf(value)
        .toString('base64')
        .match(/.{1,12}/g) ?? []
    ).join('\n'),
  'base64 in CRLF lines': (value) =>
    (
      bytesOf(value)
        .toString('base64')
        .match(/.{1,16}/g) ?? []
    ).join('\r\n'),
  hexadecimal: (value) => bytesOf(value).toString('hex'),
  'hexadecimal, upper case': (value) => bytesOf(value).toString('hex').toUpperCase(),
  'hexadecimal with :': (value) => [...bytesOf(value)].map((byte) => hex(byte, 2)).join(':'),
  'hexadecimal with -': (value) => [...bytesOf(value)].map((byte) => hex(byte, 2)).join('-'),
  'hexadecimal with spaces': (value) => [...bytesOf(value)].map((byte) => hex(byte, 2)).join(' '),
  'hexadecimal with \\x': (value) => [...bytesOf(value)].map((byte) => hex(byte, 2)).join('\\x'),
  base32: (value) => base32(bytesOf(value)),
  'base32, lower case': (value) => base32(bytesOf(value)).toLowerCase(),
  'decimal array': (value) => JSON.stringify([...bytesOf(value)]),
  'decimal array, spaced': (value) => JSON.stringify([...bytesOf(value)], null, 2),
}

/** Text in UTF-16, as Latin-1 text of its bytes. */
export const WIDE: Record<string, Form> = {
  'UTF-16LE': (value) => Buffer.from(value, 'utf16le').toString('latin1'),
  'UTF-16BE': (value) => Buffer.from(value, 'utf16le').swap16().toString('latin1'),
}

export const FORMS: Record<string, Form> = { plain: (value) => value, ...ESCAPES, ...ENCODINGS }
