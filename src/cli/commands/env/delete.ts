import { removeEnvironment } from '../../../client/actions/end_tokens.ts'
import { readSecrets } from '../../../client/environment.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { environmentOf, type ProjectScope, projectScope } from '../../scope.ts'
import { demandEnvironment } from '../../suggestions.ts'
import { formatCount, requireConfirmation } from '../../terminal/confirmed.ts'
import { endTokensIn } from '../../tokens/revoking.ts'
import { deletedOf, undeleteOf } from '../../values/storing.ts'

export default command({
  usage: 'delete <environment>',
  examples: ['env delete preview', 'env delete preview --yes'],
  options: [yes],
  action: async (context, [name], options) => {
    const scope = { ...(await projectScope(context)), environment: name }
    const { project } = scope
    await demandEnvironment(scope)
    const held = await listHeldSecrets(scope)
    const before = await deletedOf(scope)
    await requireConfirmation(
      context.host,
      options,
      `Delete ${name} from ${project.name}${lossOf(held)}? You can restore secrets for 7 days. Tokens only for ${name} are revoked.`,
    )
    const place = { projectId: project.id, environment: name }
    const { secrets, tokens } = await removeEnvironment(endTokensIn(context, scope), place)
    // Secrets that were deleted earlier on purpose must not be restored with them.
    const names = before.length > 0 ? held : ['--all']
    const back = secrets > 0 ? `; for 7 days: ${undeleteOf(names, name)}` : ''
    context.output.done(
      `Deleted ${name} with ${formatCount(secrets, 'secret')}, and revoked ${formatCount(tokens, 'token')}${back}`,
      { deleted: name, secrets, tokens },
    )
  },
})

/** Names that a question shows. */
const MAX_NAMES = 10

async function listHeldSecrets(scope: ProjectScope): Promise<string[]> {
  const held = await readSecrets(environmentOf(scope))
  return held.map(({ key }) => key)
}

function lossOf(held: readonly string[]): string {
  if (held.length === 0) return ''
  const names = held.slice(0, MAX_NAMES)
  const others = held.length > MAX_NAMES ? ', …' : ''
  return ` with ${formatCount(held.length, 'secret')} (${names.join(', ')}${others})`
}
