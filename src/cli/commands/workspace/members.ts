import { readMembers } from '../../../client/members.ts'
import { roleHelp } from '../../../client/role_table.ts'
import { command } from '../../command.ts'
import { workspaceScope } from '../../scope.ts'
import { placeOf } from '../../teams/workspaces.ts'

export default command({
  usage: 'members',
  examples: ['workspace members', 'workspace members -w acme --json'],
  details: roleHelp,
  action: async (context) => {
    const listed = await readMembers(placeOf(await workspaceScope(context)))
    context.output.table(listed, ['email', 'name', 'role', 'status'])
  },
})
