/**
 * The operations of GraphQL and JSON-RPC in a request, or why they cannot be read. Only text that all servers parse in
 * the same way is accepted.
 */
import { type AskedOperations, isReadMethod } from '../../core/policy/operations.ts'
import { readExactly } from '../../http/json/read.ts'
import { bytesOf, type Call, contentTypeOf } from '../call.ts'
import { headerOf } from '../signing/signature.ts'
import { operationsInDocument } from './graphql.ts'
import { combineOperations, NOT_UNDERSTOOD, operationsInJson } from './messages.ts'
import { operationsInForm, operationsInQuery } from './parameters.ts'

/** Bytes of a body that is parsed in one go. */
const MAX_BYTES = 1_048_576
/** The charset must be UTF-8, and no other parameter may follow. */
const TYPE = /^\s*application\/([a-z0-9.+-]+)\s*(?:;\s*charset=(?:utf-8|"utf-8")\s*)?;?\s*$/i
const JSON_TYPES: ReadonlySet<string> = new Set(['json', 'graphql+json', 'json-rpc'])

/** Returns an empty list for a read method without an operation. */
export function operationsIn(
  { method, headers, body, answer }: Pick<Call, 'method' | 'headers' | 'body' | 'answer'>,
  target: { path: string; search: string },
): AskedOperations {
  if (answer === 'socket') return { unread: 'WebSocket messages are not checked' }
  if (answer === 'grpc') return { unread: 'gRPC messages are not checked' }
  const inQuery = operationsInQuery(target, body === null)
  if (isReadMethod(method) && body === null) return inQuery
  if (method !== 'POST') return { unread: 'it is neither a POST nor a GET without a body' }
  if (body === null) return 'unread' in inQuery || inQuery.length > 0 ? inQuery : NOT_UNDERSTOOD
  return combineOperations([inQuery, operationsInBody(headers, bytesOf(body))])
}

function operationsInBody(headers: Call['headers'], bytes: Uint8Array | null): AskedOperations {
  if (!/^(?:identity)?$/i.test(headerOf(headers, 'content-encoding')?.trim() ?? '')) {
    return { unread: 'it has a Content-Encoding' }
  }
  const [, type = ''] = TYPE.exec(contentTypeOf(headers) ?? '') ?? []
  const kind = type.toLowerCase()
  const isKnown = JSON_TYPES.has(kind) || kind === 'graphql' || kind === 'x-www-form-urlencoded'
  if (!isKnown) return { unread: 'send it with the Content-Type application/json' }
  if (bytes === null || bytes.length > MAX_BYTES) return { unread: 'it is longer than 1 MiB' }
  if (JSON_TYPES.has(kind)) return operationsInJsonBytes(bytes)
  const text = decodeUtf8(bytes)
  if (text === null) return NOT_UNDERSTOOD
  if (kind === 'graphql') return operationsInDocument(text)
  const asked = operationsInForm(text)
  return asked === 'json' ? operationsInJsonBytes(bytes) : asked
}

function operationsInJsonBytes(bytes: Uint8Array): AskedOperations {
  try {
    return operationsInJson(readExactly(bytes).value)
  } catch {
    return { unread: 'its body is not JSON, or servers may parse it differently' }
  }
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
