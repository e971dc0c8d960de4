/** Where agents of the workspace may send credentials. */
import {
  allowHosts,
  disallowHost,
  knownHosts,
  readAllowlist,
} from '../../client/actions/allowlist.ts'
import { parseDomain } from '../../core/net/domain.ts'
import { listAllowlistLog } from '../../features/allowlist/contract.ts'
import type { Action } from '../command.ts'
import { notFound } from '../named.ts'
import { placeOf, type WorkspaceScope, workspaceScope } from '../scope.ts'

/** As they were signed, with a warning where the server's list says otherwise. */
export const list: Action = async (context) => {
  const place = placeOf(await workspaceScope(context))
  const { entries, unsigned, leftOut } = await readAllowlist(place)
  for (const [what, domains] of [
    ['lists, and nobody signed (no call goes there)', unsigned],
    ['leaves out, and members signed (agents reach it)', leftOut],
  ] as const) {
    if (domains.length > 0) context.output.warn(`The server ${what}: ${domains.join(', ')}`)
  }
  const rows = entries.map((entry) => ({ ...entry, seq: undefined }))
  context.output.table(rows, ['domain', { field: 'added_by_email', title: 'added by' }, 'added_at'])
  return undefined
}

export const add: Action = async (context, domains) => {
  const added = await allowHosts(placeOf(await workspaceScope(context)), domains)
  context.output.done(
    added.length > 0
      ? `Allowed: ${added.map(({ domain }) => domain).join(', ')}`
      : 'All of it was allowed already.',
    added,
  )
  return undefined
}

export const remove: Action = async (context, domains) => {
  const scope = await workspaceScope(context)
  await demandListed(scope, domains)
  for (const domain of domains) await disallowHost(placeOf(scope), domain)
  context.output.done(`Not allowed any more: ${domains.join(', ')}`, { removed: domains })
  return undefined
}

/** Checks all domains before the first is removed. The server refuses invalid ones. @throws CliError */
async function demandListed(scope: WorkspaceScope, domains: readonly string[]): Promise<void> {
  const known = await knownHosts(placeOf(scope))
  const missing = domains.find((domain) => {
    const parsed = parseDomain(domain)
    return parsed !== null && !known.includes(parsed.text)
  })
  if (missing === undefined) return
  const kind = { what: 'allowed host', where: `in ${scope.workspace.name}`, list: 'allowlist list' }
  throw notFound(missing, known, kind)
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
