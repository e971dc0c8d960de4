import { renameWorkspace } from '../../../features/workspaces/contract.ts'
import { command } from '../../command.ts'
import { namesOfWorkspaces } from '../../session/chosen.ts'

export default command({
  usage: 'rename <workspace> <name>',
  names: 'workspace',
  examples: ['workspace rename acme "Acme Payments"'],
  action: async (context, [named, name]) => {
    const session = await context.session()
    const { id, name: before } = await session.entry(named)
    const { name: now } = await session.api.call(renameWorkspace, {
      params: { workspace_id: id },
      body: { name },
    })
    session.knownNames.accept(namesOfWorkspaces(session), name, [id])
    context.output.done(
      `${before} is ${now} now.`,
      { id, workspace: now, renamed_from: before },
      id,
    )
  },
})
