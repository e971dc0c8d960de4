/** How commands revoke tokens: by links, and with a warning where the server takes none. */
import type { TokenEnding } from '../../client/actions/end_tokens.ts'
import type { Context } from '../context.ts'
import { placeOf, type WorkspaceScope } from '../scope.ts'

export function endTokensIn(
  { output }: Pick<Context, 'output'>,
  scope: WorkspaceScope,
): TokenEnding {
  return {
    ...placeOf(scope),
    unsigned: () =>
      output.warn(
        'the revocation is not signed: someone with write access to the database can undo it',
      ),
  }
}
