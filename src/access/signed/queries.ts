/** Statements that read signed texts. Each also reads the policy version of its rows. */

import { toBase64 } from '../../core/crypto/encoding.ts'
import type { SignedText } from '../../sigchain/index.ts'
import type { AccessReader } from '../reader.ts'
import { LINKS_PAGE } from './chains.ts'

/** A signed text as it is stored; null in both where it is missing. */
export type StoredText = { statement: string | null; signature: Uint8Array | null }

/** A left join: one row without a text if it is missing. */
type TextRow = StoredText & { version: number }

export function readLinks(
  read: AccessReader,
  workspaceId: string,
  after: number,
): Promise<(TextRow & { seq: number })[]> {
  return read<(TextRow & { seq: number })[]>`
    select w.policy_version::float8 as version, l.seq, l.statement, l.signature
    from workspaces w left join workspace_links l on l.workspace_id = w.id and l.seq > ${String(after)}
    where w.id = ${workspaceId} order by l.seq limit ${String(LINKS_PAGE)}`
}

export function readTokenGrant(
  read: AccessReader,
  workspaceId: string,
  tokenId: string,
): Promise<(TextRow & { binding: Uint8Array | null })[]> {
  return read<(TextRow & { binding: Uint8Array | null })[]>`
    select w.policy_version::float8 as version, g.statement, g.signature, g.binding
    from workspaces w left join token_grants g on g.workspace_id = w.id and g.token_id = ${tokenId}
    where w.id = ${workspaceId}`
}

export function readManifest(
  read: AccessReader,
  workspaceId: string,
  projectId: string,
  environment: string,
): Promise<TextRow[]> {
  return read<TextRow[]>`
    select w.policy_version::float8 as version, m.statement, m.signature
    from workspaces w left join manifests m on m.workspace_id = w.id
      and m.project_id = ${projectId} and m.environment = ${environment}
    where w.id = ${workspaceId}`
}

/** Null if it is missing or incomplete. */
export function signedTextOf({ statement, signature }: StoredText): SignedText | null {
  return statement === null || signature === null
    ? null
    : { statement, signature: toBase64(signature) }
}
