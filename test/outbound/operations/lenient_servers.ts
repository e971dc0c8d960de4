/** GraphQL servers that read requests in all known ways: the tests check whether any of them would execute a mutation. */
import { type DocumentNode, Kind, parse } from 'graphql/language'
import { getNodeValue, type Node as JsonNode, parseTree } from 'jsonc-parser'

export type Sent = { method: string; search: string; type: string; body: Uint8Array | null }

/** Whether any server finds a mutation or a subscription in any document that it may read from the request. */
export function mayWrite({ search, body }: Sent): boolean {
  const texts = body === null ? [] : encodings.map((name) => decode(body, name))
  const documents = [
    ...inParameters(search.slice(1)),
    ...texts.flatMap((text) => [text, ...inParameters(text), ...inJson(text)]),
  ]
  return documents.some(isWrite)
}

const encodings = ['utf-8', 'utf-16le', 'latin1'] as const

function decode(bytes: Uint8Array, encoding: (typeof encodings)[number]): string {
  return Buffer.from(bytes).toString(encoding === 'utf-16le' ? 'utf16le' : encoding)
}

/** `query=…` with any separator, in any case. */
function inParameters(text: string): string[] {
  return [/&/, /[&;]/].flatMap((separator) =>
    text
      .split(separator)
      .flatMap((part) => [...new URLSearchParams(part)])
      .flatMap(([name, value]) => (/^query(\[|$)/i.test(name.trim()) ? [value] : [])),
  )
}

/** Members `query` of any object that is a request, the first of several and the last, in any case. */
function inJson(text: string): string[] {
  const root = parseTree(text.replace(/^\ufeff/, ''), [], { allowTrailingComma: true })
  if (!root) return []
  const requests = root.type === 'array' ? (root.children ?? []) : [root]
  return requests.flatMap(queriesIn)
}

function queriesIn({ type, children = [] }: JsonNode): string[] {
  if (type !== 'object') return []
  return children.flatMap(({ children: [name, value] = [] }) => {
    const read = value ? getNodeValue(value) : null
    const isQuery = /^query$/i.test(String(name?.value).normalize('NFKC').replace(/\0.*$/s, ''))
    return isQuery && typeof read === 'string' ? [read] : []
  })
}

/** Parsers differ in what ends a line. Those from before 2018 have no block strings. */
function isWrite(text: string): boolean {
  const readings = [
    text,
    text.replace(/[\r\u2028\u2029\u0085\f\v]/g, '\n'),
    text.replace(/\r/g, ' '),
    text.replace(/\0.*$/s, ''),
    text.replaceAll('"""', '"" "'),
  ]
  return readings.some((reading) => {
    const document = parsed(reading)
    return document?.definitions.some(
      (one) => one.kind === Kind.OPERATION_DEFINITION && one.operation !== 'query',
    )
  })
}

function parsed(text: string): DocumentNode | null {
  try {
    return parse(text)
  } catch {
    return null
  }
}
