/** A stand-in as clients write it in the places of a request, as the source of a regular expression. */

export function exactPattern(text: string): string {
  return RegExp.escape(text)
}

/** RFC 3986, section 2.1, and forms, where `+` is a space: letters and digits as they are, all others as they are or escaped. */
export function escapedPattern(text: string): string {
  return eachByte(text, (byte, character) => {
    if (/[A-Za-z0-9]/.test(character)) return character
    const escaped = `%${anyCase(byte.toString(16).padStart(2, '0'))}`
    if (byte > 0x7e || byte < 0x21) return byte === 0x20 ? `(?:\\+|${escaped})` : escaped
    return `(?:${RegExp.escape(character)}|${escaped})`
  })
}

/** RFC 8259, section 7: the same. */
export function jsonPattern(text: string): string {
  const inside = (character: string) => JSON.stringify(character).slice(1, -1)
  return [...text]
    .map((character) => {
      if (/[A-Za-z0-9]/.test(character)) return character
      const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
      const escaped = units
        .map((unit) => `\\\\u${anyCase(unit.toString(16).padStart(4, '0'))}`)
        .join('')
      const others = character === '/' ? '|\\\\/' : ''
      return `(?:${RegExp.escape(inside(character))}|${escaped}${others})`
    })
    .join('')
}

function eachByte(text: string, write: (byte: number, character: string) => string): string {
  return [...Buffer.from(text)].map((byte) => write(byte, String.fromCharCode(byte))).join('')
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}
