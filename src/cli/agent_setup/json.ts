/** JSON with comments and trailing commas, as editors take it, changed in one place. */
import {
  applyEdits,
  type Edit,
  findNodeAtLocation,
  modify,
  type Node,
  type ParseError,
  parse,
  parseTree,
} from 'jsonc-parser'
import type { ProgramEntry } from '../../client/agents/agent_setup.ts'
import { eolOf, type Format, type Path } from './formats.ts'

const OPTIONS = { allowTrailingComma: true }

export const json: Format = {
  parse: (text) => {
    const errors: ParseError[] = []
    const parsed: unknown = parse(text || '{}', errors, OPTIONS)
    if (errors.length > 0) throw new Error('not JSON')
    return parsed
  },
  edit: (text, path, entry) => {
    const before = text || '{}\n'
    return applyEdits(before, editsFor(before, [...path], entry))
  },
}

function editsFor(text: string, path: string[], entry: ProgramEntry | null): Edit[] {
  const root = parseTree(text, [], OPTIONS)
  const indent = { insertSpaces: !/^\t/m.test(text), tabSize: 2, eol: eolOf(text) }
  if (!root) throw new Error('not JSON')
  const there = findNodeAtLocation(root, path)
  if (entry === null) return linesOf(text, there?.parent) ?? modify(text, path, undefined, {})
  if (there) {
    const content = formatLikeNeighbour(text, there.parent ?? there, entry)
    return [{ offset: there.offset, length: there.length, content }]
  }
  const [parent, missing] = findDeepest(root, path)
  const last = parent.children?.at(-1)
  // An empty object has no neighbour that could be written again with it.
  if (!last) return modify(text, path, entry, { formattingOptions: indent })
  return insertAfter(text, last, missing, entry)
}

/** The innermost existing object of the path, and the missing rest of the path. */
function findDeepest(root: Node, path: Path): [parent: Node, missing: Path] {
  const [key, ...rest] = path
  const inner = key === undefined ? undefined : findNodeAtLocation(root, [key])
  return inner?.type === 'object' ? findDeepest(inner, rest) : [root, path]
}

/** A comma, and comments on the property before it. */
const REST_OF_LINE = /^[^\S\r\n]*(,?)[^\S\r\n]*(?:\/\/[^\r\n]*)?(?=\r?\n)/

/** The position after the last property of an object, and after a comment in its line. */
function insertAfter(
  text: string,
  last: Node,
  [key = '', ...rest]: Path,
  entry: ProgramEntry,
): Edit[] {
  const end = last.offset + last.length
  const [line = '', comma = ''] = REST_OF_LINE.exec(text.slice(end)) ?? []
  const value = rest.reduceRight<unknown>((inner, name) => ({ [name]: inner }), entry)
  const content = `${breakBefore(text, last)}${JSON.stringify(key)}: ${formatLikeNeighbour(text, last, value)}`
  if (comma !== '') return [{ offset: end + line.length, length: 0, content: `${content},` }]
  return [
    { offset: end, length: 0, content: ',' },
    { offset: end + line.length, length: 0, content },
  ]
}

/** Removes the lines of a property, and the comma before the last one. `null` if its lines have other properties. */
function linesOf(text: string, property: Node | undefined): Edit[] | null {
  const siblings = property?.parent?.children
  if (!property || siblings === undefined) return null
  const { offset, length } = property
  const [line, comma] = REST_OF_LINE.exec(text.slice(offset + length)) ?? []
  if (line === undefined || indentOf(text, property) === null) return null
  const start = text.lastIndexOf('\n', offset) + 1
  const end = text.indexOf('\n', offset + length + line.length) + 1
  const gone = { offset: start, length: end - start, content: '' }
  const before = siblings[siblings.indexOf(property) - 1]
  if (comma === ',' || before === undefined) return [gone]
  const separator = text.indexOf(',', before.offset + before.length)
  return [{ offset: separator, length: 1, content: '' }, gone]
}

/** Formats a value like its neighbour: over several lines, unless the neighbour shares a line. */
function formatLikeNeighbour(text: string, neighbour: Node, value: unknown): string {
  const indent = indentOf(text, neighbour)
  if (indent === null) return JSON.stringify(value)
  const unit = /^\t/m.test(text) ? '\t' : '  '
  return JSON.stringify(value, null, unit).replaceAll('\n', `${eolOf(text)}${indent}`)
}

function breakBefore(text: string, neighbour: Node): string {
  const indent = indentOf(text, neighbour)
  return indent === null ? ' ' : `${eolOf(text)}${indent}`
}

/** `null` if something else precedes it in its line. */
function indentOf(text: string, { offset }: Node): string | null {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return before.trim() === '' ? before : null
}
