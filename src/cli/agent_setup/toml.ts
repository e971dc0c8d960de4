/** TOML of which one table, with those below it, is put at the end, replaced or taken away. */
import { parse, stringify } from 'smol-toml'
import { eolOf, type Format, type Path } from './formats.ts'

export const toml: Format = {
  parse: (text) => parse(text),
  edit: (text, path, entry) => {
    const lines = text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/)
    const [from, to] = tablesIn(lines, path)
    const gap = from > 0 && lines[from - 1] === '' ? 1 : 0
    const nested = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), entry)
    const table = entry && stringify(nested).trimEnd().split('\n')
    // A new table stands apart from what is before it, and leaves no gap behind.
    if (table) lines.splice(from, to - from, ...(from === 0 || gap ? [] : ['']), ...table)
    else lines.splice(from - gap, to - from + gap)
    const eol = eolOf(text)
    return lines.map((line) => `${line}${eol}`).join('')
  },
}

/** From the header of the table to the end of the last of its own; where there is none, the end. */
function tablesIn(lines: readonly string[], path: Path): [from: number, to: number] {
  const name = path.map((key) => `(?:${key}|"${key}"|'${key}')`).join('\\s*\\.\\s*')
  const own = new RegExp(`^\\s*\\[\\s*${name}\\s*[\\].]`)
  const from = lines.findIndex((line) => own.test(line))
  if (from === -1) return [lines.length, lines.length]
  const length = lines.slice(from).findIndex((line) => /^\s*\[/.test(line) && !own.test(line))
  const to = length === -1 ? lines.length : from + length
  // What stands before the next table belongs to that.
  const last = lines.slice(from, to).findLastIndex((line) => !/^\s*(#.*)?$/.test(line))
  return [from, from + last + 1]
}
