import { disallowHost, listKnownHosts } from '../../../client/actions/allowlist.ts'
import { parseDomain } from '../../../core/net/domain.ts'
import { command } from '../../command.ts'
import { buildNotFoundError } from '../../named.ts'
import { placeOf, type WorkspaceScope, workspaceScope } from '../../scope.ts'

export default command({
  usage: 'remove <domains...>',
  examples: ['allowlist remove api.stripe.com'],
  action: async (context, domains) => {
    const scope = await workspaceScope(context)
    await demandListed(scope, domains)
    for (const domain of domains) await disallowHost(placeOf(scope), domain)
    context.output.done(`Removed: ${domains.join(', ')}`, { removed: domains })
  },
})

/** Checks all domains before the first is removed. The server refuses invalid ones. @throws CliError */
async function demandListed(scope: WorkspaceScope, domains: readonly string[]): Promise<void> {
  const known = await listKnownHosts(placeOf(scope))
  const missing = domains.find((domain) => {
    const parsed = parseDomain(domain)
    return parsed !== null && !known.includes(parsed.text)
  })
  if (missing === undefined) return
  const kind = { what: 'allowed host', where: `in ${scope.workspace.name}`, list: 'allowlist list' }
  throw buildNotFoundError(missing, known, kind)
}
