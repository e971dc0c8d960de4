/** GraphQL in the query of a URL and in forms: parameters with the names of a request's members. */
import { type AskedOperations, isOperationEndpoint } from '../../core/policy/operations.ts'
import { readExactly } from '../../http/json/read.ts'
import { operationsInDocument } from './graphql.ts'
import {
  combineOperations,
  documentIds,
  graphqlMembers,
  NOT_UNDERSTOOD,
  operationsInMessage,
} from './messages.ts'

type Parameter = { name: string; text: string }

const IDS: ReadonlySet<string> = new Set(documentIds.map((name) => name.toLowerCase()))
/** Parameters beside a document, or beside the id of one. */
const BESIDE: ReadonlySet<string> = new Set(['operationname', 'variables', 'extensions'])
/** A document without these words only reads. */
const MAY_WRITE = /\b(?:mutation|subscription)\b/

/**
 * Returns the operations in a URL's query. The parameter `query` of another API is a plain text. Pass `isAlone` for a
 * request without a body.
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
  const isUnnamed = isAlone && isEndpoint && beside.length > 0 && asked.length === 0
  return isUnnamed ? ['persisted'] : combineOperations(asked)
}

function operationsInParameter(text: string, isEndpoint: boolean): AskedOperations {
  if (!isEndpoint && !text.includes('{')) return []
  const asked = operationsInDocument(text)
  return 'unread' in asked && !isEndpoint && !MAY_WRITE.test(text) ? [] : asked
}

/** Reads the parameter by itself, so that a hash counts as persisted even beside its document. */
function operationsInExtensions(text: string): AskedOperations {
  return operationsInMessage({ extensions: parseJson(text) })
}

/** Returns the parameters of both readings, separated by `&` and by `&` or `;`, with leniently folded names. */
function readings(text: string): Parameter[] {
  const parts = new Set([...text.split('&'), ...text.split(/[&;]/)])
  return [...parts].flatMap((part) =>
    [...new URLSearchParams(part)].map(([name, value]) => ({
      name: name
        .trim()
        .toLowerCase()
        .replace(/[[\0].*$/s, '')
        .replace(/[. ]/g, '_'),
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
    message[name] = name === 'extensions' ? parseJson(value) : value
  }
  return operationsInMessage(message)
}

/** Returns `false`, which is no valid `extensions`, for a text that servers may read differently. */
function parseJson(text: string): unknown {
  try {
    return readExactly(Buffer.from(text)).value
  } catch {
    return false
  }
}
