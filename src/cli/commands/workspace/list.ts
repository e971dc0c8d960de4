import { ApiError } from '../../../client/http/api.ts'
import { UntrustedChain } from '../../../client/signed/chain.ts'
import type { WorkspaceEntry } from '../../../client/workspaces.ts'
import { isRekeyDue } from '../../../sigchain/index.ts'
import { command } from '../../command.ts'
import { ID } from '../../terminal/table.ts'

export default command({
  usage: 'list',
  examples: ['workspace list'],
  action: async (context) => {
    const session = await context.session()
    const workspaces = await session.workspaces()
    const rows = await Promise.all(
      workspaces.map(async (workspace) => {
        const { id, name, type, role, status, epoch } = workspace
        const rekey_required = await rekeyOf(workspace)
        return { name, type, role, status, epoch, rekey_required, id }
      }),
    )
    context.output.table(rows, ['name', 'type', 'role', 'status', 'rekey_required', ID])
  },
})

/** Uses the links, because the server's data is not signed. */
async function rekeyOf(workspace: WorkspaceEntry): Promise<string> {
  const { status, fault, rekey_required, chains } = workspace
  if (fault instanceof UntrustedChain) return 'unverified'
  if (rekey_required) return 'yes'
  if (!chains || status !== 'active') return ''
  const chain = await chains.of(workspace).catch((error: unknown) => {
    if (error instanceof UntrustedChain || error instanceof ApiError) return null
    throw error
  })
  if (chain === null) return 'unverified'
  return isRekeyDue(chain) ? 'yes' : ''
}
