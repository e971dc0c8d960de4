import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { demandProjectFile } from '../../project_file.ts'
import { projectScope } from '../../scope.ts'
import { demandEnvironment } from '../../suggestions.ts'
import { remember } from '../../teams/projects.ts'

/** A mistyped name would empty every later command of this directory; --yes asks no server. */
export default command({
  usage: 'use <environment>',
  examples: ['env use staging', 'env use preview --yes'],
  options: [yes],
  action: async (context, [environment], { yes }) => {
    demandProjectFile(context)
    if (!yes) {
      const scope = { ...(await projectScope(context)), environment }
      await demandEnvironment(scope, `add --yes to use ${environment} before it exists`)
    }
    remember(context, { environment })
  },
})
