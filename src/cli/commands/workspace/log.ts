import { linksInWords } from '../../../client/signed/link_in_words.ts'
import { command } from '../../command.ts'
import { chooseAnyWorkspace, demandSigned } from '../../teams/workspaces.ts'

export default command({
  usage: 'log',
  examples: ['workspace log', 'workspace log -w acme --json'],
  action: async (context) => {
    const { session, workspace } = await chooseAnyWorkspace(context)
    demandSigned(workspace)
    const links = await session.chains.history(workspace)
    const rows = linksInWords(links)
    const data = links.map(({ type, body }, index) => ({ ...rows[index], type, body }))
    context.output.table(rows, ['seq', { field: 'at', title: 'when' }, 'by', 'what'], data)
  },
})
