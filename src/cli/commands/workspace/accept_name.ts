import { isJoined } from '../../../client/workspaces.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { findObvious, namesOfWorkspaces, toDefaultList } from '../../session/chosen.ts'
import { accept } from '../../trust/accept_name.ts'

export default command({
  usage: 'accept-name <workspace>',
  examples: ['workspace accept-name 0190c3a5-7b3e-8d2f-a1c4-5e6f7a8b9c0d'],
  options: [yes],
  action: async (context, [typed], options) => {
    const session = await context.session()
    const active = (await session.workspaces()).filter(isJoined)
    const lists = { names: namesOfWorkspaces(session), usual: toDefaultList(session) }
    const place = { what: 'workspace', known: session.knownNames, ...lists }
    await accept(context, { ...place, all: active, only: findObvious(active) }, typed, options)
  },
})
