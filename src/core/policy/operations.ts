/**
 * GraphQL and JSON-RPC operations in the form of `allowed_operations` (protocol 5.5): their syntax, and which of them a
 * policy permits. `outbound/operations` reads them from requests, since that needs a parser.
 */

/** The reason continues after "this request cannot be checked: ". */
export type AskedOperations = readonly string[] | { unread: string }

/** HTTP methods that only read. */
export const readMethods = ['GET', 'HEAD', 'OPTIONS'] as const
const READ_METHODS: ReadonlySet<string> = new Set(readMethods)

const TOOL = 'rpc:tools/call'
const GRAPHQL = '(?:query|mutation|subscription)(?::[A-Za-z_][A-Za-z0-9_]{0,127})?'
/** Characters of the method of JSON-RPC, the name of a tool and the id of a persisted query: no space and no comma. */
const RPC = `rpc(?::[!-+\\--9;-~]{1,128}|:tools/call:[!-+\\--~]{1,128})?`
const PERSISTED = 'persisted(?::[!-+\\--~]{1,128})?'
const OPERATION = new RegExp(`^(?:${GRAPHQL}|${RPC}|${PERSISTED}|batch)$`)

/** MCP messages that only maintain a session. `rpc` is an answer to a request of the server. */
const SESSION: ReadonlySet<string> = new Set([
  'rpc',
  'rpc:initialize',
  'rpc:ping',
  'rpc:notifications/initialized',
  'rpc:notifications/cancelled',
  'rpc:notifications/progress',
  'rpc:notifications/roots/list_changed',
])
/** MCP methods that only read. */
const READS: ReadonlySet<string> = new Set([
  'rpc:tools/list',
  'rpc:resources/list',
  'rpc:resources/read',
  'rpc:resources/templates/list',
  'rpc:prompts/list',
  'rpc:prompts/get',
  'rpc:completion/complete',
])

/**
 * Paths that only serve GraphQL and JSON-RPC. At any other path, an API may ignore a body of GraphQL and act on the
 * path.
 */
const ENDPOINT =
  /^\/(?:(?:admin\/)?api\/(?:v?\d[\d-]{0,9}\/)?|v\d{1,2}\/)?(?:graphql(?:\.json)?|gql|mcp|rpc|jsonrpc)\/?$/

/** Whether a text is an entry of `allowed_operations`, or an operation that a request may name. */
export function isOperation(text: string): boolean {
  return OPERATION.test(text)
}

export function isReadMethod(method: string): boolean {
  return READ_METHODS.has(method)
}

export function isOperationEndpoint(path: string): boolean {
  return ENDPOINT.test(path)
}

/** Whether a list permits an operation. An entry without a name permits all of its kind. */
export function listsOperation(entries: readonly string[], operation: string): boolean {
  return entries.some((entry) => {
    if (entry === operation) return true
    if (entry === TOOL) return operation.startsWith(`${TOOL}:`)
    if (SESSION.has(operation)) return entry.startsWith('rpc')
    return !entry.includes(':') && kindOf(operation) === entry
  })
}

/**
 * Why an operation may write, as a continuation of "this request has". `null` for a read. Nothing in a JSON-RPC method
 * or a persisted query shows whether it reads, so only those that a policy names exactly count as reads.
 */
export function writeIn(operation: string, named: readonly string[]): string | null {
  const kind = kindOf(operation)
  if (kind === 'query' || SESSION.has(operation) || READS.has(operation)) return null
  if (kind === 'mutation' || kind === 'subscription') return `a GraphQL ${kind}`
  if (named.includes(operation) && (operation.includes(':') || kind === 'batch')) return null
  return `${UNNAMED[kind] ?? 'an operation'} that allowed_operations does not list`
}

const UNNAMED: Readonly<Record<string, string>> = {
  rpc: 'a JSON-RPC method or tool',
  persisted: 'a persisted query',
  batch: 'a batch',
}

function kindOf(operation: string): string {
  return operation.replace(/:.*$/s, '')
}
