import { AnswerError } from '../../client/http/api.ts'

/** A change was sent to the server, and no usable answer arrived: the server may have made the change. */
export class LostAnswer extends Error {}

/** @throws LostAnswer for an error without a usable answer, else the error. fetch throws a TypeError if the server does not answer */
export function rejectLost(error: unknown): never {
  const isUnanswered = error instanceof TypeError || error instanceof AnswerError
  throw isUnanswered ? new LostAnswer(error.message) : error
}
