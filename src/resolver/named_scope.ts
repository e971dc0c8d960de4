/** The project and environment of a call: those it names, or its token's. */
import { buildFieldScopeFault, type ScopeField } from '../access/scope.ts'
import type { LiveToken } from '../access/tokens.ts'
import type { CallScope } from '../outbound/policy/permission.ts'

/** The scope that a call names; `null` to use the token's. */
export type NamedScope = { projectId: string | null; environment: string | null }

/** @throws Fault `scope_required` for a scope that contradicts the token's own */
export function scopeFor(token: LiveToken, { projectId, environment }: NamedScope): CallScope {
  return {
    projectId: chooseWithin('project_id', token.projectId, projectId),
    environment: chooseWithin('environment', token.environment, environment) ?? 'development',
  }
}

function chooseWithin(field: ScopeField, own: string | null, named: string | null) {
  if (own !== null && named !== null && own !== named) throw buildFieldScopeFault(field, own)
  return own ?? named
}
