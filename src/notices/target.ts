/**
 * Targets of notices. The URL and the signing key are secrets: anyone with a Slack URL can post to it. Both are stored
 * under the outer layer, bound to the target's row, so that a row inserted into the database is unusable.
 */
import { fromUtf8, utf8 } from '../core/crypto/encoding.ts'
import type { OuterLayer } from '../core/crypto/outer_layer.ts'
import type { TargetType } from './target_url.ts'

/** The stored secret of a target. Only webhooks have a key. */
export type TargetSecret = { type: TargetType; url: string; key: string | null }

type Row = { workspaceId: string; targetId: string }

const COLUMN = 'notice_targets.secret'

export function sealTarget(outer: OuterLayer, row: Row, secret: TargetSecret): Promise<Uint8Array> {
  const { workspaceId, targetId } = row
  return outer.seal(COLUMN, workspaceId, [{ uuid: targetId }], utf8(JSON.stringify(secret)))
}

/** Opens a secret; `null` if the stored bytes are not sealed by this server for that row and type. */
export async function openTarget(
  outer: OuterLayer,
  { workspaceId, targetId, type }: Row & { type: string },
  stored: Uint8Array,
): Promise<TargetSecret | null> {
  const bytes = await outer.open(COLUMN, workspaceId, [{ uuid: targetId }], stored)
  if (bytes === null) return null
  const secret = JSON.parse(fromUtf8(bytes) ?? 'null') as TargetSecret | null
  return secret?.type === type ? secret : null
}
