/** Where agents of the workspace may send credentials. */
import { allowlistChange, signedAllowlist } from '../../client/signed/allowlist.ts'
import { parseDomain } from '../../core/net/domain.ts'
import {
  addToAllowlist,
  listAllowlist,
  listAllowlistLog,
  removeFromAllowlist,
} from '../../features/allowlist/contract.ts'
import { isSignedId } from '../../sigchain/index.ts'
import type { Action } from '../command.ts'
import type { Context } from '../context.ts'
import { notFound } from '../named.ts'
import { type WorkspaceScope, workspaceScope } from '../scope.ts'

export const list: Action = async (context) => {
  const { session, workspace } = await workspaceScope(context)
  const read = () => session.api.list(listAllowlist, { params: { workspace_id: workspace.id } })
  const entries = isSignedId(workspace.id)
    ? await signedEntries(context, { session, workspace }, read)
    : await read()
  context.output.table(entries, [
    'domain',
    { field: 'added_by_email', title: 'added by' },
    'added_at',
  ])
  return undefined
}

/** As they were signed, with a warning where the server's list says otherwise. */
async function signedEntries(
  { output }: Context,
  { session, workspace }: WorkspaceScope,
  read: () => Promise<readonly { domain: string }[]>,
) {
  const { entries, unsigned, leftOut } = await signedAllowlist(session.chains, workspace, read)
  for (const [what, domains] of [
    ['lists, and nobody signed (no call goes there)', unsigned],
    ['leaves out, and members signed (agents reach it)', leftOut],
  ] as const) {
    if (domains.length > 0) output.warn(`The server ${what}: ${domains.join(', ')}`)
  }
  return entries.map(({ domain, by, at }) => ({ domain, added_by_email: by, added_at: at }))
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
  const scope = await workspaceScope(context)
  await demandListed(scope, domains)
  const { session, workspace } = scope
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

/** Checks all domains before the first is removed. The server refuses invalid ones. @throws CliError */
async function demandListed(
  { session, workspace }: WorkspaceScope,
  domains: readonly string[],
): Promise<void> {
  const { id, name } = workspace
  const rows = await session.api.list(listAllowlist, { params: { workspace_id: id } })
  const signed = isSignedId(id) ? (await session.chains.of(workspace)).allowlist : []
  const known = [...new Set([...signed, ...rows.map(({ domain }) => domain)])]
  const missing = domains.find((domain) => {
    const parsed = parseDomain(domain)
    return parsed !== null && !known.includes(parsed.text)
  })
  if (missing === undefined) return
  const kind = { what: 'allowed host', where: `in ${name}`, list: 'allowlist list' }
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
