/** What a token is told that asks for what it is not for: what it is for, which it may know (protocol 7). */
import { Fault } from '../core/fault.ts'

export type ScopeField = 'project_id' | 'environment'

export function outsideScope(field: ScopeField, own: string | null): Fault {
  return new Fault('scope_required', {
    message:
      own === null
        ? `The token leaves the ${field} open: name one.`
        : `The token is for the ${field} ${own} only.`,
  })
}
