/** Reads the catalogue's texts from its source, and counts their sentences and words. */
import { parseSync } from 'oxc-parser'

type Node = { type: string; [field: string]: unknown }

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string'

/** Replaces a part that is known at run time only, such as a name. */
const VALUE = 'x'
/** Nodes with strings that are not texts. */
const UNREAD = /^(Import|Export(All|Named)Declaration$|TS(Type|Interface|Union|Literal))/

/** Every text of a file. A text with a choice is listed once for each choice. */
export function textsIn(name: string, source: string): string[] {
  const { program } = parseSync(name, source)
  return collect(program as unknown as Node)
}

function collect(node: Node): string[] {
  if (UNREAD.test(node.type) && !isNode(node.declaration)) return []
  const found = spellings(node)
  if (found !== null) return found
  if (node.type === 'BinaryExpression') return []
  const { key: _, callee: __, ...rest } = node
  return Object.values(rest)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
    .flatMap(collect)
}

/** All that an expression can become; null if it is not a text itself. */
function spellings(node: Node): string[] | null {
  if (node.type === 'Literal') return typeof node.value === 'string' ? [node.value] : null
  if (node.type !== 'TemplateLiteral') return null
  const quasis = [node.quasis].flat().map((each) => Object(each).value.cooked as string)
  const parts = [node.expressions].flat().filter(isNode).map(choices)
  return parts.reduce(
    (texts, options, index) =>
      texts.flatMap((text) => options.map((option) => text + option + (quasis[index + 1] ?? ''))),
    [quasis[0] ?? ''],
  )
}

function choices(node: Node): string[] {
  if (node.type === 'ConditionalExpression')
    return [node.consequent, node.alternate].filter(isNode).flatMap(choices)
  return spellings(node) ?? [VALUE]
}

/** A sentence ends with its sign, or at a line break. */
export function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.?!…])\s+|\n+/).filter((sentence) => /\p{L}/u.test(sentence))
}

/** Middle dots separate items of a list. */
const itemsOf = (sentence: string) => sentence.split(/\s+·\s+/)

export function countWords(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

export type Rules = {
  maxWords: number
  maxSentences: number
  /** Words that begin with a capital letter in the middle of a sentence. */
  names: ReadonlySet<string>
  /** Headings that may begin with a question word. */
  headings: ReadonlySet<string>
}

/** The faults of a text, each as a short reason. */
export function faultsOf(text: string, rules: Rules): string[] {
  const sentences = sentencesOf(text)
  const isHeadless =
    /^(?:Who(?:se|ever)?|What|Where|Which|Of|Those|The same(?=,| (?:as|is|for|in)))\b\s(?!.*\?)/
  return [
    sentences.flatMap(itemsOf).some((item) => countWords(item) > rules.maxWords) &&
      `more than ${rules.maxWords} words in a sentence`,
    sentences.length > rules.maxSentences && `more than ${rules.maxSentences} sentences`,
    hasCode(text) && 'a code or an ID',
    sentences.some((sentence) => isHeadless.test(sentence)) &&
      !rules.headings.has(text) &&
      'no subject',
    !isSentenceCase(sentences, rules.names) && 'no sentence case',
  ].filter((fault) => fault !== false)
}

const hasCode = (text: string) =>
  /\b[a-z]+_[a-z_]+\b|\b[a-z]+\.[a-z]+_[a-z_.]+\b|\b[0-9a-f]{8}-[0-9a-f]{4}-/.test(text)

function isSentenceCase(sentences: readonly string[], names: ReadonlySet<string>): boolean {
  return sentences.every((sentence, index) => {
    const mustBeCapital = index > 0 || /[.?!]$/.test(sentence)
    // A name or value may begin a sentence in any case.
    const [first = '', ...others] = sentence.split(/\s+/)
    if (mustBeCapital && /^\p{Ll}{2}/u.test(first) && !names.has(bare(first))) return false
    return others.every((word) => !/^\p{Lu}\p{Ll}/u.test(bare(word)) || names.has(bare(word)))
  })
}

const bare = (word: string) => word.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '').replace(/’s$/, '')
