/** Code blocks of the documents, by page and name: the word after the language in the opening fence. */
import { documents, textOf } from './documents.ts'

export type Block = {
  page: string
  line: number
  language: string
  name: string
  /** The words after the name. */
  details: string[]
  text: string
}

const BLOCK = /^( *)```(\S+)([^\n]*)\n([\s\S]*?)^\1```/gm

function blocksIn(page: string, markdown: string): Block[] {
  return [...markdown.matchAll(BLOCK)].map((match) => {
    const [, indent = '', language = '', words = '', text = ''] = match
    const [name = '', ...details] = words.trim().split(' ')
    const line = markdown.slice(0, match.index).split('\n').length
    const unindented = text.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    return { page, line, language, name, details, text: unindented }
  })
}

export const allBlocks: readonly Block[] = documents.flatMap(({ path, text }) =>
  blocksIn(path, text),
)

/** All blocks of a name, or all of a page. @throws Error if no block has the name, so no test runs nothing */
export function blocksOf(page: string, name?: string): readonly Block[] {
  const found = blocksIn(page, textOf(page)).filter(
    (block) => name === undefined || block.name === name,
  )
  if (found.length === 0) throw new Error(`${page} has no block ${name ?? ''}`)
  return found
}

/** The text of all blocks of a name. */
export function scriptOf(page: string, name: string): string {
  return blocksOf(page, name)
    .map(({ text }) => text)
    .join('')
}

/** The command lines of all blocks of a name. */
export function linesOf(page: string, name: string): string[] {
  return blocksOf(page, name).flatMap(linesIn)
}

/** Its command lines. A line that ends with a backslash continues in the next one, as does one before a blank. */
export function linesIn({ text }: Block): string[] {
  return text.trim().split(/(?<!\\)\n(?!\s|})/)
}

/** Settings as a service manager or container engine reads them: one `NAME=value` per line, without quotes. */
export function settingsIn(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  )
}
