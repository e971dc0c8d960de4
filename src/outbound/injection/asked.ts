/** The request of a call to the upstream, as policies judge it. */
import type { AskedOperations } from '../../core/policy/operations.ts'
import { mayHoldRequests, overrideAmong } from '../../core/policy/override.ts'
import { methodsAskedForIn, overridableKinds } from '../../core/policy/override_body.ts'
import type { AskedMethods } from '../../core/policy/override_parts.ts'
import { bytesOf, type Call, type CallBody, contentTypeOf } from '../call.ts'
import { operationsIn } from '../operations/operations.ts'
import type { AskedRequest } from '../policy/policy.ts'
import { findFreeHeader } from '../signing/sign.ts'
import { headerOf } from '../signing/signature.ts'
import type { Target } from '../target.ts'

/** Parses a body only for a policy that needs it. */
export function parseAsked(call: Call, target: Target): AskedRequest {
  const { method, headers, signing, body } = call
  const names = [...Object.keys(headers), ...findFreeHeader(signing)]
  const isMultipart = mayHoldRequests(contentTypeOf(headers))
  let methods: AskedMethods | undefined
  let operations: AskedOperations | undefined
  return {
    target,
    method,
    override: overrideAmong(names),
    isMultipart,
    // Only policies that limit methods or operations need it: a long body takes a while to parse.
    get bodyMethods() {
      methods ??= methodsIn(headers, body)
      return methods
    },
    get operations() {
      operations ??= operationsIn(call, target)
      return operations
    },
  }
}

/** Returns methods that the body requests, or why it cannot be read. */
function methodsIn(headers: Call['headers'], body: CallBody): AskedMethods {
  const type = contentTypeOf(headers)
  if (!body || overridableKinds(type).length === 0) return []
  if (!/^(identity)?$/i.test(headerOf(headers, 'content-encoding')?.trim() ?? '')) {
    return { unread: 'it has a Content-Encoding' }
  }
  const bytes = bytesOf(body)
  return bytes === null ? { unread: 'it is too long' } : methodsAskedForIn(type, bytes)
}
