/** The founder of a workspace by its first link, independent of the server. */
import type { Link } from '../../sigchain/index.ts'

/** With the current key: a founder may have rotated it. A founder who was removed and returned no longer counts. */
export function isFounder(links: readonly Link[], signingKey: string): boolean {
  const [first] = links
  if (first?.type !== 'workspace.created') return false
  const { user_id, signing_key } = first.body.founder
  let key = signing_key
  for (const { type, body, signer } of links) {
    if (type === 'keys.rotated' && signer === user_id) key = body.signing_key
    if (type === 'members.removed' && body.user_ids.includes(user_id)) return false
  }
  return key === signingKey
}
