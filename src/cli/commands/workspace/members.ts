import { readMembers } from '../../../client/actions/members.ts'
import { roleHelp } from '../../../client/role_table.ts'
import { command } from '../../command.ts'
import { placeOf, workspaceScope } from '../../scope.ts'

export default command({
  usage: 'members',
  examples: ['workspace members', 'workspace members -w acme --json'],
  details: roleHelp,
  action: async (context) => {
    const listed = await readMembers(placeOf(await workspaceScope(context)))
    context.output.table(listed, ['email', 'name', 'role', 'status'])
  },
})
