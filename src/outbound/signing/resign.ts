/**
 * A request that a client signed with a stand-in or a placeholder is signed again with the real key
 * (protocol 6.5). Which request that is, is told by what stands where its signature would.
 */
import type { Call } from '../call.ts'
import type { Target } from '../target.ts'
import { awsSignature } from './aws_resign.ts'
import { azureSignature } from './azure_resign.ts'
import type { Signature } from './client_signature.ts'
import { googleSignature } from './google_resign.ts'

/** `null` also for a host that another host's link led to. @throws Fault `invalid_header`, `invalid_target`, `validation_error` if it cannot be signed again */
export function signatureIn(call: Call, target: Target): Signature | null {
  if (call.from) return null
  return awsSignature(call, target) ?? googleSignature(call, target) ?? azureSignature(call, target)
}
