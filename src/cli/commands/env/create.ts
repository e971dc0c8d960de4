import { createEnvironment } from '../../../features/projects/contract.ts'
import { command } from '../../command.ts'
import { projectScope } from '../../scope.ts'

export default command({
  usage: 'create <name>',
  names: 'environment',
  examples: ['env create preview'],
  action: async (context, [name]) => {
    const { session, project } = await projectScope(context)
    const params = { project_id: project.id }
    await session.api.call(createEnvironment, { params, body: { name } })
    context.output.done(`${project.name} now has the environment ${name}.`, { created: name }, name)
  },
})
