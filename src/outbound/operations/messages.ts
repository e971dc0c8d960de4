/**
 * Requests of GraphQL and JSON-RPC in JSON. A message with any other member is not understood: an API may read it,
 * even if it is a known member in another case or spelling.
 */
import { createHash } from 'node:crypto'
import { type AskedOperations, isOperation } from '../../core/policy/operations.ts'
import { operationsInDocument } from './graphql.ts'

type JsonObject = Record<string, unknown>

const MAX_BATCH = 20
/** Members that name a document which the server has stored. */
export const documentIds = ['documentId', 'doc_id', 'id', 'queryId', 'operationId'] as const
export const graphqlMembers: readonly string[] = [
  ...documentIds,
  'query',
  'operationName',
  'variables',
  'extensions',
]
const RPC_MEMBERS: readonly string[] = ['jsonrpc', 'id', 'method', 'params', 'result', 'error']

export const NOT_UNDERSTOOD = { unread: 'its body is neither a GraphQL nor a JSON-RPC request' }
const BATCH_SIZE = { unread: 'its batch is empty or has more than 20 requests' }

/** The operations of one request, or of a batch of them. */
export function operationsInJson(value: unknown): AskedOperations {
  if (!Array.isArray(value)) return operationsInMessage(value)
  if (value.length === 0 || value.length > MAX_BATCH) return BATCH_SIZE
  return combineOperations([['batch'], ...value.map(operationsInMessage)])
}

/** Combines several readings or requests; one that cannot be read makes the whole unread. */
export function combineOperations(readings: readonly AskedOperations[]): AskedOperations {
  const operations = new Set<string>()
  for (const asked of readings) {
    if ('unread' in asked) return asked
    for (const operation of asked) operations.add(operation)
  }
  return [...operations]
}

export function operationsInMessage(value: unknown): AskedOperations {
  if (!isObject(value)) return NOT_UNDERSTOOD
  const members = Object.keys(value)
  if (members.every((name) => graphqlMembers.includes(name))) return operationsInGraphql(value)
  if (members.every((name) => RPC_MEMBERS.includes(name))) return operationsInRpc(value)
  return NOT_UNDERSTOOD
}

function operationsInGraphql(message: JsonObject): AskedOperations {
  const { query = null, extensions = null } = message
  if (query !== null && typeof query !== 'string') return NOT_UNDERSTOOD
  if (extensions !== null && !isObject(extensions)) return NOT_UNDERSTOOD
  const document = query === '' ? null : query
  const persisted = readPersisted(message, extensions, document)
  if (document === null) return persisted.length > 0 ? persisted : NOT_UNDERSTOOD
  return combineOperations([operationsInDocument(document), persisted])
}

/** A server may prefer the stored document to the one in the request. */
function readPersisted(
  message: JsonObject,
  extensions: JsonObject | null,
  document: string | null,
): string[] {
  const ids = [message, extensions ?? {}].flatMap((members) =>
    documentIds.map((name) => members[name] ?? null),
  )
  const { persistedQuery = null } = extensions ?? {}
  if (persistedQuery !== null) {
    const hash = isObject(persistedQuery) ? persistedQuery.sha256Hash : undefined
    const isSame = document !== null && hash === sha256(document)
    if (!isSame) ids.push(hash ?? '')
  }
  return ids.filter((id) => id !== null).map(formatPersisted)
}

/** The operation of a stored document; without its id if no policy could list that id. */
function formatPersisted(id: unknown): string {
  const operation = `persisted:${String(id)}`
  const isId = typeof id === 'string' || Number.isSafeInteger(id)
  return isId && isOperation(operation) ? operation : 'persisted'
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** A message without a method answers a request of the server. */
function operationsInRpc({
  jsonrpc,
  method,
  params = null,
  ...others
}: JsonObject): AskedOperations {
  if (method === undefined) {
    const isAnswer = jsonrpc === '2.0' && params === null
    return isAnswer && ('result' in others || 'error' in others) ? ['rpc'] : NOT_UNDERSTOOD
  }
  if (typeof method !== 'string' || 'result' in others || 'error' in others) return NOT_UNDERSTOOD
  if (jsonrpc !== undefined && jsonrpc !== '2.0' && jsonrpc !== '1.0') return NOT_UNDERSTOOD
  if (method === 'tools/call') return operationsInToolCall(params)
  return method.includes(':') ? NOT_UNDERSTOOD : toListable(`rpc:${method}`)
}

function operationsInToolCall(params: unknown): AskedOperations {
  if (!isObject(params) || typeof params.name !== 'string') return NOT_UNDERSTOOD
  // Some servers read names without regard to case.
  const names = Object.keys(params).filter((name) => foldName(name) === 'name')
  return names.length === 1 ? toListable(`rpc:tools/call:${params.name}`) : NOT_UNDERSTOOD
}

function toListable(operation: string): AskedOperations {
  return isOperation(operation) ? [operation] : NOT_UNDERSTOOD
}

/** Normalises a name as the most lenient servers do. */
function foldName(name: string): string {
  return name.normalize('NFKC').toLowerCase().replace(/\0.*$/s, '').trim()
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
