/** Whether a text holds a value that a token's calls could use, in any form that the leak guard recognises. */
import { snapshotSince } from '../../access/snapshots/snapshot_now.ts'
import type { LiveToken } from '../../access/tokens.ts'
import { decideWhenRead } from '../../core/async/unread.ts'
import { utf8 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import type { ResolverServices } from '../services.ts'

/** @throws Fault `invalid_token`, `unverified_state`, `unavailable` */
export async function holdsValue(
  services: ResolverServices,
  token: LiveToken,
  text: string,
): Promise<boolean> {
  const { tokens, snapshots, guards } = services
  const version = (await tokens.versions([token.id])).get(token.id)
  if (version === undefined) throw new Fault('invalid_token')
  return snapshotSince(services, token, version, async (snapshot) => {
    await decideWhenRead(() => snapshots.requireGranted(snapshot, token))
    const granted = await decideWhenRead(() => snapshots.grants(snapshot, token.id))
    const guard = await guards.of({ ...services, snapshot, token }, granted)
    const bytes = utf8(text)
    return guard.forCall().body(bytes, { isJson: false }) !== bytes
  })
}
