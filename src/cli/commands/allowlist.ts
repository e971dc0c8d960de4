/** Where agents of the workspace may send credentials. */
import { allowlistChange } from '../../client/signed/allowlist.ts'
import {
  addToAllowlist,
  listAllowlist,
  listAllowlistLog,
  removeFromAllowlist,
} from '../../features/allowlist/contract.ts'
import { isSignedId } from '../../sigchain/index.ts'
import type { Action } from '../command.ts'
import { workspaceScope } from '../scope.ts'

export const list: Action = async (context) => {
  const { session, workspace } = await workspaceScope(context)
  const [rows, chain] = await Promise.all([
    session.api.list(listAllowlist, { params: { workspace_id: workspace.id } }),
    isSignedId(workspace.id) ? session.chains.of(workspace) : null,
  ])
  const byDomain = new Map(rows.map((row) => [row.domain, row]))
  // Rows say of what was signed who added it and when.
  const entries = chain
    ? [...chain.allowlist].map((domain) => ({ ...byDomain.get(domain), domain }))
    : rows
  context.output.table(entries, [
    'domain',
    { field: 'added_by_email', title: 'added by' },
    'added_at',
  ])
  return undefined
}

export const add: Action = async (context, domains) => {
  const { session, workspace } = await workspaceScope(context)
  const params = { workspace_id: workspace.id }
  const added = await session.sign(
    workspace,
    (chain) => allowlistChange(chain, { add: domains }),
    (link) => session.api.call(addToAllowlist, { params, body: { domains, link } }),
  )
  context.output.done(
    added.length > 0
      ? `Allowed: ${added.map(({ domain }) => domain).join(', ')}`
      : 'All of it was allowed already.',
    added,
  )
  return undefined
}

export const remove: Action = async (context, domains) => {
  const { session, workspace } = await workspaceScope(context)
  for (const domain of domains) {
    const params = { workspace_id: workspace.id, domain }
    await session.sign(
      workspace,
      (chain) => allowlistChange(chain, { remove: [domain] }),
      (link) => session.api.call(removeFromAllowlist, { params, body: { link } }),
    )
  }
  context.output.done(`Not allowed any more: ${domains.join(', ')}`, { removed: domains })
  return undefined
}

export const log: Action = async (context) => {
  const { session, workspace } = await workspaceScope(context)
  const entries = await session.api.list(listAllowlistLog, {
    params: { workspace_id: workspace.id },
  })
  context.output.table(entries, [
    { field: 'performed_at', title: 'when' },
    'action',
    'domain',
    { field: 'performed_by_email', title: 'by' },
  ])
  return undefined
}
