/** Ending tokens, and what they belong to, by the keys that are held. */
import type { Ending } from '../../../client/agents/ending.ts'
import { signChange } from '../../../client/signed/sign_change.ts'
import type { Held } from './held.ts'
import { workspaceOf } from './places.ts'

/** Returns whether only the server's database says so: it took no link. */
export async function ending(
  held: Held,
  workspaceId: string,
  act: (ending: Ending) => Promise<unknown>,
) {
  const { open: workspace } = await workspaceOf(held, workspaceId)
  const { trust, identity } = held.reader()
  let isUnsigned = false
  await act({
    api: held.api,
    workspace,
    sign: (judge, send) => signChange({ chains: trust.chains, workspace, identity }, judge, send),
    unsigned: () => {
      isUnsigned = true
    },
  })
  return { isUnsigned }
}
