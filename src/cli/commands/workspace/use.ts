import { command } from '../../command.ts'
import { remember } from '../../teams/projects.ts'

export default command({
  usage: 'use <workspace>',
  examples: ['workspace use acme'],
  action: async (context, [named]) => {
    const { id } = await (await context.session()).workspace(named)
    remember(context, { workspace: id, project: undefined })
  },
})
