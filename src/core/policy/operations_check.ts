/** Checks a call against `read_only` and `allowed_operations` (protocol 5.5). */
import { type Objection, objectNotPermitted } from './objection.ts'
import {
  type AskedOperations,
  isOperationEndpoint,
  isReadMethod,
  listsOperation,
  readMethods,
  writeIn,
} from './operations.ts'
import { callMethods, type Policy } from './policy.ts'

/**
 * Returns the methods that may replace a request's own, if a policy limits any. If operations are limited, only the
 * body of a POST is checked, so that no other request may become one.
 */
export function selectLimitedMethods(policy: Policy): Policy['allowed_methods'] {
  const { allowed_methods, allowed_operations, read_only } = policy
  if (!read_only && !allowed_operations) return allowed_methods
  return (allowed_methods ?? callMethods).filter(isReadMethod)
}

/** Checks the method, the path and the operations; a record of a call has no operations. */
export function objectionToOperations(
  policy: Policy,
  path: string,
  { method, operations }: { method: string; operations?: AskedOperations },
): Objection | null {
  const { read_only, allowed_operations } = policy
  if (!read_only && !allowed_operations) return null
  const isWrite = method !== 'POST' && !isReadMethod(method)
  if (read_only && isWrite) return objectNotPermitted('method', 'read_only', readMethods)
  if (method === 'POST' && !isOperationEndpoint(path) && !policy.allowed_paths?.includes(path))
    return objectUnchecked(policy, OTHER_PATH)
  if (operations === undefined) return null
  if ('unread' in operations) return objectUnchecked(policy, operations.unread)
  return objectionToUnlisted(policy, operations) ?? objectionToWrite(policy, operations)
}

/** At other paths, an API may ignore a body of GraphQL and act on the path. */
const OTHER_PATH =
  'it is a POST to a path that is not known to serve GraphQL or JSON-RPC. If it does, list exactly this path in allowed_paths'

function objectUnchecked({ read_only }: Policy, reason: string): Objection {
  return read_only
    ? {
        rule: 'read_only',
        text: `permits only reads (read_only), and this request may write: ${reason}`,
      }
    : {
        rule: 'allowed_operations',
        text: `limits operations (allowed_operations), and this request cannot be checked: ${reason}`,
      }
}

function objectionToUnlisted(
  { allowed_operations: listed }: Policy,
  operations: readonly string[],
): Objection | null {
  if (!listed || operations.every((operation) => listsOperation(listed, operation))) return null
  return objectNotPermitted('operation', 'allowed_operations', listed)
}

function objectionToWrite(
  { read_only, allowed_operations: named = [] }: Policy,
  operations: readonly string[],
): Objection | null {
  const [write] = operations.flatMap((operation) => writeIn(operation, named) ?? [])
  if (!read_only || write === undefined) return null
  return {
    rule: 'read_only',
    text: `permits only reads (read_only), and this request has ${write}`,
  }
}
