/** Files as npm's `dotenv` reads them. That program silently skips invalid lines; here they are refused. */
import { lineNumbers } from '../../../client/secrets/lines.ts'
import type { DialectRules, LineFault, Located } from '../located.ts'

/** The expression of dotenv 16 and 17. */
const LINE =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm
/** Text between two statements. */
const BETWEEN = /^(?:\s*(?:#[^\n]*)?(?:\n|$))*$/

export const dotenv: DialectRules = {
  read: (given) => {
    const text = given.replace(/\r\n?/g, '\n')
    const found: Located[] = []
    const faults: LineFault[] = []
    const lineAt = lineNumbers(text)
    let end = 0
    const skipRange = (from: number, to: number) => {
      const between = text.slice(from, to)
      if (BETWEEN.test(between)) return
      const start = from + (between.length - between.trimStart().length)
      faults.push({ line: lineAt(start), reason: 'dotenv skips this: it is not NAME=value' })
    }
    for (const match of text.matchAll(LINE)) {
      const { 0: whole, 1: name = '', 2: written = '', index } = match
      skipRange(end, index)
      end = index + whole.length
      const line = lineAt(index + (whole.length - whole.trimStart().length))
      const value = unquote(written)
      if (/^['"`]/.test(value) && written.trim() === value && value.length > 0)
        faults.push({ line, reason: 'the quotes are not closed, or text follows them' })
      else found.push({ name, value, line })
    }
    skipRange(end, text.length)
    return { found, faults: faults.sort((one, other) => one.line - other.line) }
  },
  write: (name, value) => {
    const escaped = value.replaceAll('\r', '\\r')
    const ways = [
      value,
      ...quoteIfPossible("'", value),
      ...quoteIfPossible('"', escaped),
      ...quoteIfPossible('`', value),
      ...quoteIfPossible('"', escaped.replaceAll('\n', '\\n')),
    ]
    const way = ways.find((candidate) => readsBack(`${name}=${candidate}`, name, value))
    if (way !== undefined) return { line: `${name}=${way}` }
    return { refusal: 'has a mix of quotes, escapes or spaces that dotenv cannot represent' }
  },
}

/** With a quote inside, or a backslash at the end, the end of the value would depend on later lines. */
function quoteIfPossible(quote: string, value: string): string[] {
  return value.includes(quote) || value.endsWith('\\') ? [] : [`${quote}${value}${quote}`]
}

function readsBack(line: string, name: string, value: string): boolean {
  const { found, faults } = dotenv.read(`${line}\n`)
  return (
    faults.length === 0 && found.length === 1 && found[0]?.name === name && found[0].value === value
  )
}

function unquote(written: string): string {
  const value = written.trim()
  const inner = value.replace(/^(['"`])([\s\S]*)\1$/gm, '$2')
  return value.startsWith('"') ? inner.replace(/\\n/g, '\n').replace(/\\r/g, '\r') : inner
}
