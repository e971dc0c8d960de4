/** The environment of a delivery. */
import type { Access } from '../../access/index.ts'
import { buildFieldScopeFault, type ScopeField } from '../../access/scope.ts'
import type { LiveToken } from '../../access/tokens.ts'
import type { BodyAccount } from '../../core/body_memory.ts'
import { readBody } from '../../http/request_body.ts'
import { type DeliveryScope, deliverEnvironment } from './contract.ts'

export type Scope = { projectId: string; environment: string }

/** A body is only complained about to a token that is live at this moment. */
export async function readScope(
  { tokens }: Access,
  token: LiveToken,
  request: Request,
  account: BodyAccount,
): Promise<DeliveryScope> {
  try {
    return await readBody(request, deliverEnvironment.body, { optional: true, account })
  } catch (error) {
    await tokens.confirm(token)
    throw error
  }
}

/** Both must be named, by the token or by the request, and the request cannot leave the token's. */
export function scopeOf(token: LiveToken, { project_id, environment }: DeliveryScope): Scope {
  const chooseField = (field: ScopeField, own: string | null, named: string | null | undefined) => {
    const value = own ?? named
    if (!value || (named && named !== value)) throw buildFieldScopeFault(field, own)
    return value
  }
  return {
    projectId: chooseField('project_id', token.projectId, project_id),
    environment: chooseField('environment', token.environment, environment),
  }
}
