/** Where agents of the workspace may send credentials. */
import {
  addToAllowlist,
  listAllowlist,
  listAllowlistLog,
  removeFromAllowlist,
} from '../../features/allowlist/contract.ts'
import type { Action } from '../command.ts'
import { workspaceScope } from '../scope.ts'

export const list: Action = async (context) => {
  const { session, workspace } = await workspaceScope(context)
  const entries = await session.api.list(listAllowlist, { params: { workspace_id: workspace.id } })
  context.output.table(entries, ['domain', 'added_by_email', 'added_at'])
  return undefined
}

export const add: Action = async (context, domains) => {
  const { session, workspace } = await workspaceScope(context)
  const params = { workspace_id: workspace.id }
  const added = await session.api.call(addToAllowlist, { params, body: { domains } })
  if (context.output.isJson) context.output.table(added, [])
  else
    context.output.say(
      added.length > 0
        ? `Allowed: ${added.map(({ domain }) => domain).join(', ')}`
        : 'All of it was allowed already.',
    )
  return undefined
}

export const remove: Action = async (context, domains) => {
  const { session, workspace } = await workspaceScope(context)
  for (const domain of domains) {
    await session.api.call(removeFromAllowlist, { params: { workspace_id: workspace.id, domain } })
  }
  context.output.say(`Not allowed any more: ${domains.join(', ')}`)
  return undefined
}

export const log: Action = async (context) => {
  const { session, workspace } = await workspaceScope(context)
  const entries = await session.api.list(listAllowlistLog, {
    params: { workspace_id: workspace.id },
  })
  context.output.table(entries, ['performed_at', 'action', 'domain', 'performed_by_email'])
  return undefined
}
