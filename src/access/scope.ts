/** The message for a token that lacks a scope. It names the token's own scope, which its bearer may know (protocol 7). */
import { Fault } from '../core/fault.ts'

export type ScopeField = 'project_id' | 'environment'

export function buildFieldScopeFault(field: ScopeField, own: string | null): Fault {
  return new Fault('scope_required', {
    message:
      own === null
        ? `The token is not limited to one ${field}: name one.`
        : `The token is for the ${field} ${own} only.`,
  })
}
