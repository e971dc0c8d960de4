/** Turns an error of a call to the server into a failure for the page. Null for any other error. */
import { AnswerError, ApiError } from '../../../client/http/api.ts'
import { ClocksDiffer } from '../../../client/http/clock_difference.ts'
import { LostAnswer } from '../lost_answer.ts'
import type { Failure } from './reports.ts'

export function callFailure(error: unknown): Failure | null {
  if (error instanceof ApiError) {
    const { code, message, fields, requestId } = error
    return { code, message, fields, requestId }
  }
  if (error instanceof AnswerError) return toFailure('unusable_answer', error)
  if (error instanceof ClocksDiffer) return toFailure('clocks_differ', error)
  if (error instanceof LostAnswer) return toFailure('lost_answer', error)
  // fetch throws a TypeError if the server does not answer.
  if (error instanceof TypeError) return toFailure('unreachable', error)
  return null
}

function toFailure(code: string, { message }: Error): Failure {
  return { code, message, fields: [], requestId: null }
}
