/** Turns the worker's errors into failures for the page. */
import { MalformedRecoveryKey, UnreadableCopy } from '../../../client/account/recovery.ts'
import { Unstorable } from '../../../client/actions/set_secrets.ts'
import { Unproven } from '../../../client/actions/stored_secrets.ts'
import { ChangedName } from '../../../client/known_names.ts'
import { UntrustedChain } from '../../../client/signed/chain.ts'
import { FormerMember } from '../../../client/signed/sign_change.ts'
import { UntrustedKey } from '../../../client/workspace_key.ts'
import { callFailure } from './call_failure.ts'
import type { Failure } from './reports.ts'

/** A refusal by the worker. The catalogue has a sentence for its code. */
export class Refused extends Error {
  readonly code: string

  constructor(code: string, message = '') {
    super(message)
    this.code = code
  }
}

export function failureFrom(error: unknown): Failure {
  const failure = callFailure(error)
  if (failure) return failure
  const message = error instanceof Error ? error.message : String(error)
  return { code: codeOf(error), message, fields: [], requestId: null }
}

const codes = [
  [UntrustedChain, 'untrusted_chain'],
  [FormerMember, 'forbidden'],
  [ChangedName, 'changed_name'],
  [UntrustedKey, 'untrusted_key'],
  [Unproven, 'unproven_policy'],
  [Unstorable, 'unstorable'],
  [MalformedRecoveryKey, 'malformed_recovery_key'],
  [UnreadableCopy, 'unreadable_copy'],
] as const

function codeOf(error: unknown): string {
  if (error instanceof Refused) return error.code
  return codes.find(([type]) => error instanceof type)?.[1] ?? 'internal'
}
