/**
 * Files of JSON and YAML: names with texts, and the exports of Doppler and Infisical. Every value is taken as it is
 * written, or refused with its name and line: nothing is dropped, and no number loses digits.
 */
import { getNodeValue, type Node as JsonNode, type ParseError, parseTree } from 'jsonc-parser'
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Scalar,
  type YAMLError,
  type Node as YamlNode,
} from 'yaml'
import { lineNumbers } from '../../client/secrets/lines.ts'
import type { LineFault, Located, Reading } from './located.ts'

type Tree = { line: number } & (
  | { text: string }
  | { fault: string }
  | { names: readonly (readonly [name: string, value: Tree, line: number])[] }
  | { items: readonly Tree[] }
)

/** Thrown while a tree is read; becomes a fault of its line. */
class Unreadable extends Error {
  readonly line: number

  constructor(line: number, reason: string) {
    super(reason)
    this.line = line
  }
}

export function readJson(text: string): Reading {
  return readTree(() => {
    const errors: ParseError[] = []
    const lineOf = lineNumbers(text)
    const root = parseTree(text, errors, { disallowComments: true })
    const [error] = errors
    if (error || !root) throw new Unreadable(lineOf(error?.offset ?? 0), 'this is not JSON')
    return jsonTree(text, root, lineOf)
  })
}

export function readYaml(text: string): Reading {
  return readTree(() => {
    const counter = new LineCounter()
    const options = { logLevel: 'error', prettyErrors: false, lineCounter: counter } as const
    const document = parseDocument(text, options)
    const lineOf = (offset = 0) => counter.linePos(offset).line
    const [error] = document.errors
    if (error) throw new Unreadable(lineOf(error.pos[0]), yamlFault(error, text))
    return yamlTree(document, document.contents, lineOf)
  })
}

function readTree(parse: () => Tree): Reading {
  try {
    return entriesOf(parse())
  } catch (error) {
    // Too deep for the stack, for example.
    const { line, message } =
      error instanceof Unreadable ? error : { line: 1, message: 'this cannot be read' }
    return { found: [], faults: [{ line, reason: message }] }
  }
}

const NUMBER = 'is a number that needs quotes'
const NO_VALUE = 'has no value (null)'

function jsonTree(text: string, node: JsonNode, lineOf: (offset: number) => number): Tree {
  const line = lineOf(node.offset)
  const { type, children = [] } = node
  if (type === 'array')
    return { line, items: children.map((child) => jsonTree(text, child, lineOf)) }
  if (type !== 'object') return { line, ...jsonScalar(text, node) }
  const names = children.map(({ children: [name, value] = [], offset }) => {
    if (!name || !value) throw new Unreadable(lineOf(offset), 'this is not JSON')
    return [String(getNodeValue(name)), jsonTree(text, value, lineOf), lineOf(name.offset)] as const
  })
  return { line, names: requireDistinct(names) }
}

function jsonScalar(text: string, { type, offset, length, value }: JsonNode) {
  if (type === 'null') return { fault: NO_VALUE }
  const written = text.slice(offset, offset + length)
  if (type === 'number') return requireExactNumber(Number(written), written)
  return { text: type === 'string' ? String(value) : written }
}

/** Programs agree on integers. They format other numbers differently. */
function requireExactNumber(value: number, written: string) {
  const isExact = Number.isSafeInteger(value) && String(value) === written
  return isExact ? { text: written } : { fault: NUMBER }
}

type LineOf = (offset?: number) => number

function yamlTree(document: Document, node: unknown, lineOf: LineOf): Tree {
  const target = isAlias(node) ? node.resolve(document) : node
  const line = lineOf((node as YamlNode | null)?.range?.[0])
  if (isAlias(node) && target === undefined) throw new Unreadable(line, NO_ANCHOR)
  if (isSeq(target))
    return { line, items: target.items.map((item) => yamlTree(document, item, lineOf)) }
  if (isMap(target)) {
    const names = target.items.map(({ key, value }) => {
      const at = lineOf((key as YamlNode).range?.[0])
      const name = nameOf(key, at)
      return [name, yamlTree(document, value, lineOf), at] as const
    })
    return { line, names: requireDistinct(names) }
  }
  return { line, ...(isScalar(target) ? yamlScalar(target) : { fault: NO_VALUE }) }
}

/** As it is written: `True` and `1e3` are names too. */
function nameOf(key: unknown, line: number): string {
  if (isScalar(key)) return key.source ?? String(key.value)
  throw new Unreadable(line, 'a name must be text')
}

function yamlScalar({ value, source = '', tag }: Scalar) {
  if (tag !== undefined && tag !== 'tag:yaml.org,2002:str')
    return { fault: 'has an unsupported tag' }
  if (value === null) return { fault: NO_VALUE }
  if (typeof value === 'number') return requireExactNumber(value, source)
  if (typeof value === 'boolean') return { text: source }
  return typeof value === 'string' ? { text: value } : { fault: NUMBER }
}

const NO_ANCHOR = 'an alias has no anchor: write the value instead'

const YAML_FAULTS: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab indents this line: use spaces',
  MULTIPLE_DOCS: 'the file has a second document: use one file per document',
}

/** The parser's own sentences may quote values. */
function yamlFault({ code, pos }: YAMLError, text: string): string {
  if (code === 'DUPLICATE_KEY') {
    const { 1: name = 'a name' } = /^["']?(\w+)/.exec(text.slice(pos[0])) ?? []
    return `${name} occurs twice`
  }
  return YAML_FAULTS[code] ?? 'this is not YAML'
}

type Names = readonly (readonly [name: string, value: Tree, line: number])[]

function requireDistinct(names: Names): Names {
  const seen = new Set<string>()
  for (const [name, , line] of names) {
    if (seen.has(name)) throw new Unreadable(line, `${name} occurs twice`)
    seen.add(name)
  }
  return names
}

function entriesOf(tree: Tree): Reading {
  const inner = unwrapTree(tree)
  if ('items' in inner) return infisical(inner.items)
  if (!('names' in inner))
    throw new Unreadable(inner.line, 'the file must contain names with text values')
  return collectValues(
    inner.names.map(([name, value, line]) => ({ name, line, value: simplifyTree(value) })),
  )
}

/** The content of `secrets` in exports. */
function unwrapTree(tree: Tree): Tree {
  if (!('names' in tree)) return tree
  const secrets = tree.names.find(([name]) => name === 'secrets')
  if (secrets === undefined || 'text' in secrets[1] || 'fault' in secrets[1]) return tree
  const [beside] = tree.names.filter(([name]) => name !== 'secrets')
  if (beside === undefined) return secrets[1]
  throw new Unreadable(beside[2], `${beside[0]} beside \`secrets\` would be lost`)
}

/** From Doppler's `secrets download --format json` without flattening, which has the values that programs get. */
function simplifyTree(tree: Tree): Tree {
  if (!('names' in tree)) return tree
  return fieldOf(tree.names, 'computed') ?? tree
}

/** Infisical's export, and its older names for the same. */
function infisical(items: readonly Tree[]): Reading {
  return collectValues(
    items.map((item) => {
      const fields = 'names' in item ? item.names : []
      const name = fieldOf(fields, 'key') ?? fieldOf(fields, 'secretKey')
      const value = fieldOf(fields, 'value') ?? fieldOf(fields, 'secretValue')
      if (!name || !('text' in name) || !value)
        throw new Unreadable(item.line, 'this list entry has no `key` and `value`')
      return { name: name.text, line: item.line, value }
    }),
  )
}

function fieldOf(names: Names, wanted: string): Tree | undefined {
  return names.find(([name]) => name === wanted)?.[1]
}

function collectValues(all: readonly { name: string; line: number; value: Tree }[]): Reading {
  const found: Located[] = []
  const faults: LineFault[] = []
  for (const { name, line, value } of all) {
    if ('text' in value) found.push({ name, line, value: value.text })
    else faults.push({ line, reason: `${name} ${faultOf(value)}` })
  }
  return { found, faults }
}

function faultOf(value: Tree): string {
  if ('fault' in value) return value.fault
  return 'items' in value ? 'is a list, not text' : 'is a nested object, not text'
}
