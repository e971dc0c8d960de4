/** A Markdown page for a terminal: wrapped, with headings and tables, and code that can be copied. */

type Look = { width: number; colour: boolean }

const FENCED = /^```.*\n([\s\S]*?)^```$/gm
const PICTURE = /!\[[^\]]*\]\([^)]*\)/g
const RELATIVE_LINK = /\[([^\]]+)\]\((?!https?:)[^)]*\)/g
const INDENT = '    '

export function renderForTerminal(markdown: string, look: Look): string {
  // Every second part is the code of a block.
  const parts = markdown.split(FENCED).map((part, at) => {
    return at % 2 === 0 ? prose(part, look) : indentCode(part)
  })
  return `${parts
    .filter((part) => part !== '')
    .join('\n\n')
    .trim()}\n`
}

function prose(markdown: string, { width, colour }: Look): string {
  const text = markdown.replace(PICTURE, '').replace(RELATIVE_LINK, '$1')
  // Without colors, backticks mark code.
  const marked = colour ? text : text.replace(/`([^`\n]+)`/g, '`` `$1` ``')
  return Bun.markdown.ansi(marked, { columns: width, colors: colour }).replace(/^\n+|\s+$/g, '')
}

function indentCode(code: string): string {
  return code.trimEnd().replace(/^(?=.)/gm, INDENT)
}
