import { createSignedWorkspace } from '../../../client/actions/workspaces.ts'
import { getMe } from '../../../features/accounts/contract.ts'
import { listWorkspacesEndpoint } from '../../../features/workspaces/contract.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { namesOfWorkspaces } from '../../session/chosen.ts'
import type { Session } from '../../session/session.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { openKnownChains } from '../../trust/known.ts'

export default command({
  usage: 'create <name>',
  names: 'workspace',
  examples: ['workspace create acme'],
  options: [yes],
  action: async (context, [name], { yes }) => {
    const session = await context.session()
    if (!yes) await demandNewName(session, name)
    const { id, known } = await createSignedWorkspace(session, await founderOf(session), name)
    const chains = openKnownChains(context.env, session.server)
    session.writes.remember(() => chains.remember(id, known))
    session.knownNames.accept(namesOfWorkspaces(session), name, [id])
    context.output.record({ id, name }, id)
  },
})

/** Reads the server's list alone, because nothing in it is used. @throws CliError */
async function demandNewName({ api }: Session, name: string): Promise<void> {
  const listed = await api.list(listWorkspacesEndpoint, {})
  if (!listed.some((workspace) => workspace.name === name && workspace.status === 'active')) return
  throw new CliError(
    'name_taken',
    `you already have a workspace ${name}; nothing was created`,
    `use it with: cloakroom workspace use ${name}; or add --yes to create another one`,
  )
}

async function founderOf(session: Session) {
  const [me, identity] = await Promise.all([session.api.call(getMe, {}), session.identity()])
  return { userId: me.id, email: session.email, identity }
}
