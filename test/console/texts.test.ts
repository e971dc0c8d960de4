// tier: quick
/**
 * Every text of the console is in the catalogue, so that it can be translated, every entry is used, and each follows
 * the rules for words on screen.
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { texts } from '../../src/console/web/texts/index.ts'
import { faultsOf, type Rules, sentencesOf, textsIn } from './sentences.ts'

const WEB = join(import.meta.dir, '..', '..', 'src', 'console', 'web')
/** Attributes that are read to people, or shown to them. */
const READ =
  /^(aria-(label|description|roledescription|valuetext)|title|placeholder|alt|label|help|name|verb|caption)$/
/** Signs and figures, which need no translation. */
const WITHOUT_LETTERS = /^[^\p{Letter}]*$/u

type Node = { type: string; [field: string]: unknown }
type File = { name: string; program: Node }

const files: File[] = []
for await (const name of new Bun.Glob('**/*.{ts,tsx}').scan(WEB)) {
  // The design page is for developers, so its samples are not in the catalogue.
  if (/^(texts|design)\//.test(name) || name.endsWith('.d.ts')) continue
  const { program } = parseSync(name, await Bun.file(join(WEB, name)).text())
  files.push({ name, program: program as unknown as Node })
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string'

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
}

function* within(node: Node): Generator<Node> {
  yield node
  for (const child of childrenOf(node)) yield* within(child)
}

/** The texts that an expression can become: both sides of a choice, and the parts of a template. */
function literals(node: unknown): string[] {
  if (!isNode(node)) return []
  if (node.type === 'Literal') return typeof node.value === 'string' ? [node.value] : []
  if (node.type === 'TemplateElement') return [String(Reflect.get(Object(node.value), 'cooked'))]
  const parts = {
    ConditionalExpression: [node.consequent, node.alternate],
    LogicalExpression: [node.left, node.right],
    BinaryExpression: node.operator === '+' ? [node.left, node.right] : [],
    TemplateLiteral: [node.quasis, node.expressions].flat(),
    JSXExpressionContainer: [node.expression],
  }[node.type]
  return (parts ?? []).flatMap(literals)
}

function shown(node: Node): string[] {
  if (node.type === 'JSXText') return [String(node.value)]
  if (node.type === 'JSXElement' || node.type === 'JSXFragment')
    return [node.children].flat().filter(isNode).flatMap(literals)
  if (node.type !== 'JSXAttribute') return []
  const name = String(Reflect.get(Object(node.name), 'name'))
  return READ.test(name) && !isOfForm(node) ? literals(node.value) : []
}

/** `name` of a field is for the browser. */
function isOfForm({ name, value }: Node): boolean {
  const text = literals(value)[0] ?? ''
  return Reflect.get(Object(name), 'name') === 'name' && /^[a-z-]+$/.test(text)
}

test('no screen has text outside the catalogue', () => {
  const found = files.flatMap(({ name, program }) =>
    [...within(program)]
      .flatMap(shown)
      .filter((text) => !WITHOUT_LETTERS.test(text))
      .map((text) => `${name}: ${text.trim()}`),
  )
  expect(found).toEqual([])
})

/** The path of an expression such as `texts.members.invite`. `named` has a file's constants for parts of the catalogue. */
function pathOf(node: unknown, named: ReadonlyMap<string, string[]>): string[] {
  if (!isNode(node)) return []
  if (node.type === 'Identifier') return named.get(String(node.name)) ?? []
  if (node.type !== 'MemberExpression' || node.computed) return []
  const property = String(Reflect.get(Object(node.property), 'name'))
  return pathOf(node.object, named).map((path) => `${path}.${property}`)
}

/** Constants for a part of the catalogue. Their declaration reads no text yet. */
function namesIn(program: Node): Map<string, string[]> {
  const named = new Map([['texts', ['texts']]])
  for (const node of within(program)) {
    if (node.type !== 'VariableDeclarator' || !isNode(node.id)) continue
    const paths = pathOf(node.init, named)
    if (paths.length === 0 || node.id.type !== 'Identifier') continue
    const name = String(node.id.name)
    named.set(name, [...(named.get(name) ?? []), ...paths])
  }
  return named
}

function* readIn(node: Node, named: ReadonlyMap<string, string[]>): Generator<string> {
  if (/^(Import|TSType|TSInterface)/.test(node.type)) return
  if (node.type === 'VariableDeclarator' && isNode(node.id)) {
    const paths = pathOf(node.init, named)
    if (node.id.type === 'ObjectPattern') {
      const keys = [node.id.properties].flat().filter(isNode).map(nameOfKey)
      yield* paths.flatMap((path) => keys.map((key) => `${path}.${key}`))
    }
    if (paths.length > 0) return
  }
  const paths = pathOf(node, named)
  yield* paths
  if (paths.length === 0) for (const child of childrenOf(node)) yield* readIn(child, named)
}

function nameOfKey({ key }: Node): string {
  return String(Reflect.get(Object(key), 'name'))
}

function leavesOf(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path]
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, `${path}.${key}`))
}

test('every text is used somewhere', () => {
  const read = new Set(files.flatMap(({ program }) => [...readIn(program, namesIn(program))]))
  // A part that is passed on, or in which something is looked up, counts as read.
  const isRead = (leaf: string) =>
    leaf.split('.').some((_, index, parts) => read.has(parts.slice(0, index + 1).join('.')))
  // Errors are looked up by code (texts/index.ts).
  const leaves = leavesOf(texts, 'texts').filter((leaf) => !leaf.startsWith('texts.errors.byCode'))
  expect(leaves.length).toBeGreaterThan(500)
  expect(leaves.filter((leaf) => !isRead(leaf))).toEqual([])
})

/** Products, formats and keys, and the screens by their names. */
const NAMES = `App Authorization Caddy Claude Cloakroom Code Crypto Deleted Details Discord End Enter Esc Git KiB PostgreSQL
  Shift Slack Tab Web`
const rules: Rules = {
  maxWords: 12,
  maxSentences: 2,
  names: new Set([...NAMES.split(/\s+/), ...Object.values(texts.common.areas)]),
  headings: new Set(['What changes', 'Who may use it']),
}

test('every text is short, in sentence case, has a subject, and shows no code', async () => {
  const catalogue = join(WEB, 'texts', 'en')
  const faults: string[] = []
  let count = 0
  for await (const name of new Bun.Glob('**/*.ts').scan(catalogue)) {
    const found = textsIn(name, await Bun.file(join(catalogue, name)).text())
    count += found.length
    for (const text of found)
      faults.push(...faultsOf(text, rules).map((fault) => `${name}: ${text}: ${fault}`))
  }
  expect(count).toBeGreaterThan(1_500)
  expect([...new Set(faults)].sort()).toEqual([])
})

test('every error has at most three sentences together with its fix', () => {
  const long = Object.entries(texts.errors.byCode).filter(
    ([, { said = '', help = '' }]) => sentencesOf(`${said} ${help}`).length > 3,
  )
  expect(long.map(([code]) => code)).toEqual([])
})

test('the rules for texts find each kind of fault', () => {
  const faults = (text: string) => faultsOf(text, rules).join()
  expect(faults('One two three four five six seven eight nine ten eleven twelve thirteen.')).toBe(
    'more than 12 words in a sentence',
  )
  expect(faults('One. Two. Three.')).toBe('more than 2 sentences')
  expect(faults('It failed with not_found.')).toBe('a code or an ID')
  expect(faults('The record 01a2059e-0000-7000 is gone.')).toBe('a code or an ID')
  expect(faults('Who would rather look')).toBe('no subject')
  expect(faults('What was signed is not acceptable here.')).toBe('no subject')
  expect(faults('Create Token')).toBe('no sentence case')
  expect(faults('it failed.')).toBe('no sentence case')
  expect(faults('Forgot your password? Who can help?')).toBe('')
  expect(faults('Enter to save · Tab for next · Esc to cancel')).toBe('')
})

test('a text with choices is read once for each choice', () => {
  const source = "export const a = `@{n === 1 ? 'One' : 'Some'} of @{name()} left`".replaceAll(
    '@',
    '$',
  )
  expect(textsIn('a.ts', source)).toEqual(['One of x left', 'Some of x left'])
})
