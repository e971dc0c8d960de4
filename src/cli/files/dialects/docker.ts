/**
 * The format of `docker run --env-file`: `NAME=value` to the end of the line. There are no quotes, escapes or comments
 * behind a value, and blanks at its end belong to it.
 */
import type { DialectRules, LineFault, Located } from '../located.ts'

/** Docker reads lines with a buffer of 64 KiB. */
const MAX_LINE_BYTES = 65_535

export const docker: DialectRules = {
  read: (text) => {
    const found: Located[] = []
    const faults: LineFault[] = []
    for (const [index, whole] of text.split('\n').entries()) {
      const statement = whole.replace(/\r$/, '').replace(/^[ \t]+/, '')
      if (statement === '' || statement.startsWith('#')) continue
      const { 1: name = '', 2: value } = /^([^=]*)(?:=([\s\S]*))?$/.exec(statement) ?? []
      const line = index + 1
      const reason = faultOf(name, value, whole)
      if (reason !== null) faults.push({ line, reason })
      else found.push({ name, value: value ?? '', line })
    }
    return { found, faults }
  },
  write: (name, value) => {
    const line = `${name}=${value}`
    if (value.includes('\n'))
      return { refusal: "has a line break, which Docker's format cannot represent" }
    if (value.includes('\0')) return { refusal: 'has a zero byte, which variables cannot contain' }
    if (value.endsWith('\r'))
      return { refusal: 'ends with a carriage return, which Docker removes' }
    if (Buffer.byteLength(line) > MAX_LINE_BYTES)
      return { refusal: `is longer than Docker reads (${MAX_LINE_BYTES} bytes a line)` }
    return { line }
  },
}

function faultOf(name: string, value: string | undefined, whole: string): string | null {
  if (value === undefined) return 'Docker takes this value from its environment: write NAME=value'
  if (name === '') return 'this is not NAME=value'
  if (/[ \t]/.test(name)) return 'Docker rejects spaces before ='
  if (whole.includes('\0')) return 'there is a zero byte'
  return Buffer.byteLength(whole) > MAX_LINE_BYTES ? 'this line is too long for Docker' : null
}
