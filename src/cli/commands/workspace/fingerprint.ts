import { hashInGroups } from '../../../client/signed/trust.ts'
import { readFirstHash } from '../../../sigchain/index.ts'
import { command } from '../../command.ts'
import { chooseAnyWorkspace, demandSigned } from '../../teams/workspaces.ts'

export default command({
  usage: 'fingerprint',
  examples: ['workspace fingerprint -w acme'],
  action: async (context) => {
    const { session, workspace } = await chooseAnyWorkspace(context)
    demandSigned(workspace)
    const shown = hashInGroups(readFirstHash(await session.chains.of(workspace)))
    context.output.record({ workspace: workspace.name, fingerprint: shown }, shown)
  },
})
