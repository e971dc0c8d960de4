import { allowlistChange } from '../../../client/signed/allowlist.ts'
import { parseDomain } from '../../../core/net/domain.ts'
import { listAllowlist, removeFromAllowlist } from '../../../features/allowlist/contract.ts'
import { isSignedId } from '../../../sigchain/index.ts'
import { command } from '../../command.ts'
import { notFound } from '../../named.ts'
import { type WorkspaceScope, workspaceScope } from '../../scope.ts'

export default command({
  usage: 'remove <domains...>',
  examples: ['allowlist remove api.stripe.com'],
  action: async (context, domains) => {
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
  },
})

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
