/** Whose a workspace was from its first link on, whatever the server calls it. */
import type { Link } from '../../sigchain/index.ts'

/** With the key of now: a founder may have rotated theirs, and is nobody's successor who was removed and came back. */
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
