/** What calls of the server fail with, in the form in which the page shows it; null for what is no failure of a call. */
import { AnswerError, ApiError } from '../../../client/http/api.ts'
import { ClocksDiffer } from '../../../client/http/clock_difference.ts'
import type { Failure } from './reports.ts'

export function callFailure(error: unknown): Failure | null {
  if (error instanceof ApiError) {
    const { code, message, fields, requestId } = error
    return { code, message, fields, requestId }
  }
  if (error instanceof AnswerError) return failed('unusable_answer', error)
  if (error instanceof ClocksDiffer) return failed('clocks_differ', error)
  // What fetch throws where nobody answers.
  if (error instanceof TypeError) return failed('unreachable', error)
  return null
}

function failed(code: string, { message }: Error): Failure {
  return { code, message, fields: [], requestId: null }
}
