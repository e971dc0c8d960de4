/** How commands revoke tokens: by links, and with a warning where the server takes none. */
import type { Ending } from '../../client/agents/ending.ts'
import type { Context } from '../context.ts'
import type { WorkspaceScope } from '../scope.ts'

export function endingIn(
  { output }: Pick<Context, 'output'>,
  { session, workspace }: WorkspaceScope,
): Ending {
  return {
    api: session.api,
    workspace: workspace.open,
    sign: (judge, send) => session.sign(workspace, judge, send),
    unsigned: () =>
      output.warn(
        'the server took no signature for it: only its database says that it ended, and who writes that can take it back',
      ),
  }
}
