import { ownId } from '../../../client/signed/sign_change.ts'
import type { WorkspaceEntry } from '../../../client/workspaces.ts'
import { acceptInvitation } from '../../../features/workspaces/contract.ts'
import { command } from '../../command.ts'
import type { Session } from '../../session/session.ts'
import { invitation } from '../../teams/workspaces.ts'
import { CliError } from '../../terminal/cli_error.ts'

export default command({
  usage: 'accept <workspace>',
  examples: ['workspace accept acme'],
  action: async (context, [named]) => {
    const { session, found } = await invitation(context, named)
    await demandSignedInvitation(session, found)
    if (found.shown === null) {
      throw new CliError(
        'unreadable_workspace',
        `the key of ${found.name} does not open with your private key; nothing was accepted`,
        `run cloakroom workspace decline ${found.name}, and ask to be invited again`,
      )
    }
    await session.api.call(acceptInvitation, { params: { workspace_id: found.id } })
    const { name, id } = found
    context.output.done(`You are a member of ${name}.`, { accepted: name, id })
  },
})

/** Somebody who may invite has signed it, and the key is the one that the members have. @throws UntrustedChain */
async function demandSignedInvitation(session: Session, { shown, ...found }: WorkspaceEntry) {
  const chain = await found.chain()
  if (!chain) return
  const email = session.email.toLowerCase()
  // An invitation to keys that this person has replaced since is no forgery: it does not open.
  const isNamed = [...chain.members.values()].some((member) => member.email === email)
  if (isNamed && !shown) return
  ownId(chain, found, (await session.identity()).signing_key)
  if (shown) await session.chains.requireKey(shown)
}
