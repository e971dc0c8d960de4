/** TOML text in which one table with its subtables is appended, replaced or removed. */
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
    // A blank line separates a new table from the text before it. Removing the table leaves no gap.
    if (table) lines.splice(from, to - from, ...(from === 0 || gap ? [] : ['']), ...table)
    else lines.splice(from - gap, to - from + gap)
    const eol = eolOf(text)
    return lines.map((line) => `${line}${eol}`).join('')
  },
}

/** From the header of the table to the end of its last subtable. Without the table, the end of the text. */
function tablesIn(lines: readonly string[], path: Path): [from: number, to: number] {
  const name = path.map((key) => `(?:${key}|"${key}"|'${key}')`).join('\\s*\\.\\s*')
  const own = new RegExp(`^\\s*\\[\\s*${name}\\s*[\\].]`)
  const from = lines.findIndex((line) => own.test(line))
  if (from === -1) return [lines.length, lines.length]
  const length = lines.slice(from).findIndex((line) => /^\s*\[/.test(line) && !own.test(line))
  const to = length === -1 ? lines.length : from + length
  // Comments before the next table belong to that table.
  const last = lines.slice(from, to).findLastIndex((line) => !/^\s*(#.*)?$/.test(line))
  return [from, from + last + 1]
}
