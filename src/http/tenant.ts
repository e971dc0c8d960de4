/** Finds the tenant in a request (protocol 2), before anything else is known. */

import { Fault } from '../core/fault.ts'
import type { ResourceRef } from '../core/grant.ts'
import { isUuid } from '../core/validation/validate.ts'
import type { Tenant } from './endpoint.ts'
import type { RequestContext } from './route.ts'

/** Whether the body must be read to know the tenant. */
export function isNamedInBody(tenant: Tenant, request: Request): boolean {
  return tenant === 'body.project_id' || (tenant === 'active' && activeOf(request) === undefined)
}

/** The workspace that the header or the query names. */
export function activeOf(request: Request): string | undefined {
  return request.headers.get('x-workspace-id') ?? readActiveFromQuery(request)
}

function readActiveFromQuery(request: Request): string | undefined {
  return new URL(request.url).searchParams.get('workspace_id') ?? undefined
}

/** The resource that the request names; parts that cannot name anything are 404. */
export function resourceOf(tenant: Tenant, context: RequestContext, body: unknown): ResourceRef {
  const { request, params } = context
  switch (tenant) {
    case 'path.workspace_id':
      return { workspaceId: params.workspace_id }
    case 'path.project_id':
      return { projectId: params.project_id }
    case 'path.deleted_project_id':
      return { deletedProjectId: params.project_id }
    case 'path.workspace_project':
      return { workspaceId: params.workspace_id, projectId: params.project_id }
    case 'path.project_name':
      return { workspaceId: params.workspace_id, projectName: params.project_name }
    case 'query.workspace_id':
      return { workspaceId: readActiveFromQuery(request) }
    case 'body.project_id':
      return { projectId: namesOf(body).project_id }
    default:
      return findActiveResource(context, body)
  }
}

function findActiveResource({ request, params }: RequestContext, body: unknown): ResourceRef {
  const workspaceId = activeOf(request) ?? namesOf(body).workspace_id
  if (workspaceId !== undefined && !isUuid(workspaceId)) throw new Fault('not_found')
  if (params.project !== undefined && isUuid(params.project)) return { projectId: params.project }
  return { workspaceId, projectName: params.project }
}

function namesOf(body: unknown): { project_id?: string; workspace_id?: string } {
  return body ?? {}
}
