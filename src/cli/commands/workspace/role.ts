import { giveRole } from '../../../client/actions/members.ts'
import { roleHelp } from '../../../client/role_table.ts'
import type { Role } from '../../../core/grant.ts'
import { command } from '../../command.ts'
import { keepToken } from '../../options.ts'
import { placeOf, workspaceScope } from '../../scope.ts'
import { demandMember, roleOf } from '../../teams/workspaces.ts'
import { keepTokensOf } from '../../tokens/ending_tokens.ts'

export default command({
  usage: 'role <member> <role>',
  examples: ['workspace role grace@example.com admin'],
  details: roleHelp,
  options: [keepToken],
  action: async (context, [email, given], options) => {
    const scope = await workspaceScope(context)
    const next = roleOf(given)
    await demandMember(scope, email)
    const kept = isAdmin(next) ? [] : await keepTokensOf(context, scope, email, options)
    const changed = await giveRole(placeOf(scope), email, next, kept)
    context.output.done(`${changed.email} is now ${changed.role}.`, {
      email: changed.email,
      role: changed.role,
    })
  },
})

function isAdmin(role: Role): boolean {
  return role === 'owner' || role === 'admin'
}
