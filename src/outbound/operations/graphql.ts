/**
 * The operations of a GraphQL document, each with its root fields. Every operation counts, since a server may pick
 * another one than `operationName`. Documents that parsers read in different ways are refused.
 */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type InlineFragmentNode,
  Kind,
  Lexer,
  parse,
  type SelectionSetNode,
  Source,
  type Token,
  TokenKind,
} from 'graphql/language'
import type { AskedOperations } from '../../core/policy/operations.ts'

const MAX_LENGTH = 100_000
const MAX_TOKENS = 10_000
const MAX_DEPTH = 100
/** Characters that end a line or a text for some parsers: control characters, a lone CR, U+2028 and U+2029. */
const AMBIGUOUS = /(?![\t\n\r])\p{Cc}|[\u2028\u2029]|\r(?!\n)/u
const OPENS: ReadonlySet<string> = new Set([
  TokenKind.BRACE_L,
  TokenKind.PAREN_L,
  TokenKind.BRACKET_L,
])
const CLOSES: ReadonlySet<string> = new Set([
  TokenKind.BRACE_R,
  TokenKind.PAREN_R,
  TokenKind.BRACKET_R,
])
/** Quotes that begin and end a block string. */
const BLOCK_QUOTES = 3

const TOO_LARGE = {
  unread: 'its GraphQL document has more than 100,000 characters, 10,000 tokens or 100 levels',
}
const MALFORMED = { unread: 'its GraphQL document is not valid' }

/** Returns operations such as `query:viewer`. A document without operations cannot be read. */
export function operationsInDocument(text: string): AskedOperations {
  if (text.length > MAX_LENGTH) return TOO_LARGE
  if (AMBIGUOUS.test(text) || !text.isWellFormed()) {
    return { unread: 'its GraphQL document has control characters' }
  }
  try {
    return objectionToTokens(text) ?? operationsOf(parse(text, { maxLexicalTokens: MAX_TOKENS }))
  } catch {
    return MALFORMED
  }
}

/** The parser is recursive, so the depth is limited first. @throws GraphQLError */
function objectionToTokens(text: string): { unread: string } | null {
  const lexer = new Lexer(new Source(text))
  let depth = 0
  for (let count = 0; lexer.advance().kind !== TokenKind.EOF; count += 1) {
    depth += stepOf(lexer.token.kind)
    if (depth > MAX_DEPTH || count >= MAX_TOKENS) return TOO_LARGE
    if (hasQuotes(lexer.token, text)) {
      return { unread: 'its GraphQL document has a block string with quotes: use a variable' }
    }
  }
  return null
}

/** Returns the change of depth at a token. */
function stepOf(kind: string): number {
  if (OPENS.has(kind)) return 1
  return CLOSES.has(kind) ? -1 : 0
}

/** Whether parsers from before block strings would end this one at a quote inside of it. */
function hasQuotes({ kind, start, end }: Token, text: string): boolean {
  if (kind !== TokenKind.BLOCK_STRING) return false
  return /["\\]/.test(text.slice(start + BLOCK_QUOTES, end - BLOCK_QUOTES))
}

/** @throws Error for a document that cannot be executed */
function operationsOf({ definitions }: DocumentNode): AskedOperations {
  const operations = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION)
  const written = definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION)
  const fragments = new Map(written.map((one) => [one.name.value, one]))
  const isExecutable =
    operations.length > 0 &&
    fragments.size === written.length &&
    operations.length + written.length === definitions.length
  if (!isExecutable) return MALFORMED
  const asked = operations.flatMap(({ operation, selectionSet }) => {
    const fields = rootFields(selectionSet, fragments)
    return fields.length > 0 ? fields.map((field) => `${operation}:${field}`) : [operation]
  })
  return [...new Set(asked)]
}

/** An operation's root fields, including those in fragments. @throws Error for a missing fragment */
function rootFields(
  root: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): string[] {
  const fields: string[] = []
  const sets = new Set([root])
  for (const { selections } of sets) {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) fields.push(selection.name.value)
      else sets.add(setOf(selection, fragments))
    }
  }
  return fields
}

/** @throws Error for a missing fragment */
function setOf(
  selection: InlineFragmentNode | FragmentSpreadNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): SelectionSetNode {
  if (selection.kind === Kind.INLINE_FRAGMENT) return selection.selectionSet
  const fragment = fragments.get(selection.name.value)
  if (!fragment) throw new Error('missing fragment')
  return fragment.selectionSet
}
