/**
 * Operations of GraphQL and JSON-RPC in the form of `allowed_operations` (protocol 5.5), and what a policy has against
 * those that a request asks for. Reading them from a request is the task of `outbound/operations`, which needs a parser.
 */

/** The reason goes on after "this request cannot be checked: ". */
export type AskedOperations = readonly string[] | { unread: string }

/** The methods of HTTP that only read. */
export const readMethods = ['GET', 'HEAD', 'OPTIONS'] as const
const READ_METHODS: ReadonlySet<string> = new Set(readMethods)

const TOOL = 'rpc:tools/call'
const GRAPHQL = '(?:query|mutation|subscription)(?::[A-Za-z_][A-Za-z0-9_]{0,127})?'
/** Characters of the method of JSON-RPC, the name of a tool and the id of a persisted query: no space and no comma. */
const RPC = `rpc(?::[!-+\\--9;-~]{1,128}|:tools/call:[!-+\\--~]{1,128})?`
const PERSISTED = 'persisted(?::[!-+\\--~]{1,128})?'
const OPERATION = new RegExp(`^(?:${GRAPHQL}|${RPC}|${PERSISTED}|batch)$`)

/** What opens, keeps and ends a session of MCP, and does nothing else. */
const SESSION: ReadonlySet<string> = new Set([
  'rpc',
  'rpc:initialize',
  'rpc:ping',
  'rpc:notifications/initialized',
  'rpc:notifications/cancelled',
  'rpc:notifications/progress',
  'rpc:notifications/roots/list_changed',
])
/** Methods of MCP that only read. */
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
 * Paths at which only GraphQL and JSON-RPC are served. At any other path an API may ignore a body of GraphQL and do
 * what the path says.
 */
const ENDPOINT =
  /^\/(?:(?:admin\/)?api\/(?:v?\d[\d-]{0,9}\/)?|v\d{1,2}\/)?(?:graphql(?:\.json)?|gql|mcp|rpc|jsonrpc)\/?$/

/** Whether a text is an entry of `allowed_operations`, or an operation that a request may ask for. */
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
 * Why an operation may write, in words that go on from "this request has"; `null` for one that only reads. JSON-RPC and
 * persisted queries do not tell, so that those count as reads that a policy names one by one.
 */
export function writeIn(operation: string, named: readonly string[]): string | null {
  const kind = kindOf(operation)
  if (kind === 'query' || SESSION.has(operation) || READS.has(operation)) return null
  if (kind === 'mutation' || kind === 'subscription') return `a GraphQL ${kind}`
  if (named.includes(operation) && (operation.includes(':') || kind === 'batch')) return null
  return `${UNTOLD[kind] ?? 'an operation'} that allowed_operations does not name`
}

const UNTOLD: Readonly<Record<string, string>> = {
  rpc: 'a JSON-RPC method or tool',
  persisted: 'a persisted query',
  batch: 'a batch',
}

function kindOf(operation: string): string {
  return operation.replace(/:.*$/s, '')
}
