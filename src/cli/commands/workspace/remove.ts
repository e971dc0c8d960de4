import { removePerson } from '../../../client/actions/members.ts'
import { leaveWorkspace } from '../../../client/actions/workspaces.ts'
import { command, type OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { keepToken, yes } from '../../options.ts'
import { demandProjectFile } from '../../project_file.ts'
import { placeOf, workspaceScope } from '../../scope.ts'
import { demandMember } from '../../teams/workspaces.ts'
import { requireConfirmation } from '../../terminal/confirmed.ts'
import { keepTokensOf } from '../../tokens/ending_tokens.ts'

const options = [keepToken, yes] as const

type RemoveOptions = OptionValues<typeof options>

export default command({
  usage: 'remove <member>',
  examples: ['workspace remove alan@example.com --yes'],
  options,
  action: async (context, [email], options) => {
    if (await leaveOwnWorkspace(context, email, options)) return
    const scope = await workspaceScope(context)
    await demandMember(scope, email)
    await requireConfirmation(
      context.host,
      options,
      `Remove ${email} from ${scope.workspace.name}?`,
    )
    const kept = await keepTokensOf(context, scope, email, options)
    await removePerson(placeOf(scope), email, kept)
    context.output.done(
      `Removed ${email}. They knew the workspace key. Replace it with: cloakroom workspace rekey (deletes earlier versions and deleted secrets)`,
      { removed: email, rekey_required: true },
    )
  },
})

/** Leaving needs no workspace key, so it works with an unreadable one. False for the removal of others. */
async function leaveOwnWorkspace(
  context: Context,
  email: string,
  options: RemoveOptions,
): Promise<boolean> {
  const session = await context.session()
  if (email.toLowerCase() !== session.email.toLowerCase()) return false
  demandProjectFile(context, 'workspace')
  const workspace = await session.entry(context.settings.workspace?.value)
  const { id, name } = workspace
  await requireConfirmation(context.host, options, `Leave ${name}?`)
  await leaveWorkspace(session.api, workspace, email)
  session.knownNames.forget(id)
  context.output.done(`You have left ${name}.`, { removed: email, rekey_required: true })
  return true
}
