/** Reads one of several parts. If it fails, the others are still shown. */
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
