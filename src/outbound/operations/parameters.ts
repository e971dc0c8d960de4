/** GraphQL in the query of a URL and in forms: parameters with the names of a request's members. */
import { type AskedOperations, isOperationEndpoint } from '../../core/policy/operations.ts'
import { readExactly } from '../../http/json/read.ts'
import { operationsInDocument } from './graphql.ts'
import {
  allOperations,
  documentIds,
  graphqlMembers,
  NOT_UNDERSTOOD,
  operationsInMessage,
} from './messages.ts'

type Parameter = { name: string; text: string }

const IDS: ReadonlySet<string> = new Set(documentIds.map((name) => name.toLowerCase()))
/** Parameters beside a document, or beside the id of one. */
const BESIDE: ReadonlySet<string> = new Set(['operationname', 'variables', 'extensions'])
/** Only documents with one of these words do more than read. */
const MAY_WRITE = /\b(?:mutation|subscription)\b/

/**
 * Operations that a URL's query asks for. A parameter `query` of other APIs is a plain text; `isAlone` where the
 * request has no body.
 */
export function operationsInQuery(
  { path, search }: { path: string; search: string },
  isAlone: boolean,
): AskedOperations {
  if (search.length <= 1) return []
  const isEndpoint = isOperationEndpoint(path)
  const parameters = readings(search.slice(1))
  const documents = parameters.filter(({ name, text }) => name === 'query' && text.trim() !== '')
  const asked = documents.map(({ text }) => operationsInParameter(text, isEndpoint))
  const beside = parameters.filter(({ name }) => BESIDE.has(name))
  const ids = isEndpoint || beside.length > 0 ? parameters.filter(({ name }) => IDS.has(name)) : []
  asked.push(...ids.map(({ text }) => operationsInMessage({ id: text })))
  const stored = beside.filter(({ text }) => /persistedQuery|operationId|documentId/i.test(text))
  asked.push(...stored.map(({ text }) => operationsInExtensions(text)))
  const isUntold = isAlone && isEndpoint && beside.length > 0 && asked.length === 0
  return isUntold ? ['persisted'] : allOperations(asked)
}

function operationsInParameter(text: string, isEndpoint: boolean): AskedOperations {
  if (!isEndpoint && !text.includes('{')) return []
  const asked = operationsInDocument(text)
  return 'unread' in asked && !isEndpoint && !MAY_WRITE.test(text) ? [] : asked
}

/** Without the document: where its hash is right, `persisted` is asked for all the same. */
function operationsInExtensions(text: string): AskedOperations {
  return operationsInMessage({ extensions: parsedJson(text) })
}

/** Every parameter, separated by `&` alone and by `&` or `;`, with its name as the most lenient of servers reads it. */
function readings(text: string): Parameter[] {
  const parts = new Set([...text.split('&'), ...text.split(/[&;]/)])
  return [...parts].flatMap((part) =>
    [...new URLSearchParams(part)].map(([name, value]) => ({
      name: name
        .trim()
        .toLowerCase()
        .replace(/[[\0].*$/s, ''),
      text: value,
    })),
  )
}

/** Operations of a form, which may be JSON that a program sent under that type. */
export function operationsInForm(text: string): AskedOperations | 'json' {
  const isJson = /^\s*[{[]/.test(text)
  if (isJson) {
    const isForm = readings(text).some(({ name }) => name === 'query' || IDS.has(name))
    return isForm ? NOT_UNDERSTOOD : 'json'
  }
  const message: Record<string, unknown> = {}
  if (text.includes(';')) return NOT_UNDERSTOOD
  for (const [name, value] of new URLSearchParams(text)) {
    if (!graphqlMembers.includes(name) || name in message) return NOT_UNDERSTOOD
    message[name] = name === 'extensions' ? parsedJson(value) : value
  }
  return operationsInMessage(message)
}

/** `undefined` for a text that is not JSON in the way that all servers read. */
function parsedJson(text: string): unknown {
  try {
    return readExactly(Buffer.from(text)).value
  } catch {
    return false
  }
}
