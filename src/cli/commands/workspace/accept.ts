import { joinWorkspace } from '../../../client/actions/members.ts'
import { command } from '../../command.ts'
import { invitation } from '../../teams/workspaces.ts'
import { CliError } from '../../terminal/cli_error.ts'

export default command({
  usage: 'accept <workspace>',
  examples: ['workspace accept acme'],
  action: async (context, [named]) => {
    const { session, found } = await invitation(context, named)
    if (!(await joinWorkspace(session, found))) {
      throw new CliError(
        'unreadable_workspace',
        `the key of ${found.name} cannot be decrypted with your private key; nothing was accepted`,
        `run cloakroom workspace decline ${found.name} and ask to be invited again`,
      )
    }
    const { name, id } = found
    context.output.done(`You are a member of ${name}.`, { accepted: name, id })
  },
})
