import { AnswerError } from '../../client/http/api.ts'

/** A change was sent to the server, and no usable answer arrived: the server may have made the change. */
export class LostAnswer extends Error {}

/** fetch throws a TypeError if the server does not answer. */
export function isUnanswered(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof AnswerError
}
