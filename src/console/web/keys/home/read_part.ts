/** One of several answers: where it cannot be read, the others are shown all the same. */
import { failureFrom } from '../failure.ts'

/** `why` is the code of the failure, such as `forbidden`. */
export type ReadPart<T> = { data: T; why: null } | { data: null; why: string }

export async function tryRead<T>(read: () => Promise<T>): Promise<ReadPart<T>> {
  try {
    return { data: await read(), why: null }
  } catch (error) {
    return { data: null, why: failureFrom(error).code }
  }
}
