/** Refuses a value that does not fit its placeholder's place: the message has the reason and the remedy. */
import { Fault } from '../../core/fault.ts'

export function buildUnusableFault(message: string): Fault {
  return new Fault('unusable_secret', { message })
}
