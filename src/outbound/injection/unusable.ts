/** The refusal of a value that cannot be where its placeholder is: the message says why and what to do. */
import { Fault } from '../../core/fault.ts'

export function unusable(message: string): Fault {
  return new Fault('unusable_secret', { message })
}
