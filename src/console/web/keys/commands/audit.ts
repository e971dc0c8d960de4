/** Who could have seen a secret. */
import { readExposure } from '../../../../client/actions/exposure.ts'
import { Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import { placeIn } from '../places.ts'

export const auditCommands = { seen }

/** @throws UntrustedChain, Refused `not_signed` */
async function seen(
  held: HeldKeys,
  { workspaceId, environment }: { workspaceId: string; environment: string | null },
) {
  const found = await readExposure(await placeIn(held, workspaceId), environment)
  if (found === null) throw new Refused('not_signed')
  return found
}
