/** Releases of held secrets to a token (protocol 14.3): live ones for its calls, ended ones to guard its answers. */
import { z } from 'zod'
import { fromUtf8, toBase64 } from '../../core/crypto/encoding.ts'
import type { OuterLayer } from '../../core/crypto/outer_layer.ts'
import type { SignedText } from '../../sigchain/index.ts'
import type { AccessReader } from '../reader.ts'

const storedEnvelopes = z.array(
  z.object({
    project_id: z.string(),
    environment: z.string(),
    key: z.string(),
    envelope: z.base64(),
  }),
)

export type StoredRelease = {
  id: string
  /** Whether its row allows its use. The signed statement has the final say. */
  isLive: boolean
  signed: SignedText
  envelopes: z.output<typeof storedEnvelopes>
}

type ReleaseRow = {
  version: number
  id: string | null
  isLive: boolean
  statement: string | null
  signature: Uint8Array | null
  envelopes: Uint8Array
}

/** Reads the newest 200 releases of a token that open, with at most 16 MiB of envelopes together. */
export async function readReleases(
  read: AccessReader,
  outer: OuterLayer,
  { workspaceId, tokenId }: { workspaceId: string; tokenId: string },
): Promise<{ version: number | undefined; releases: StoredRelease[] }> {
  const rows = await read<ReleaseRow[]>`
    select w.policy_version::float8 as version, a.id, a.status = 'released' and a.expires_at > now() as "isLive", a.statement, a.signature,
      a.envelopes
    from workspaces w left join (
      select *, sum(octet_length(envelopes)) over (order by decided_at desc, id desc) as bytes from approvals
      where workspace_id = ${workspaceId} and token_id = ${tokenId} and envelopes is not null
      order by decided_at desc, id desc limit 200) as a on a.bytes <= 16777216
    where w.id = ${workspaceId}`
  const stored = rows.filter(({ id }) => id !== null)
  const opened = await outer.openAll(
    'approvals.envelopes',
    workspaceId,
    stored.map(({ id, envelopes }) => ({ row: [{ uuid: id ?? '' }], blob: envelopes })),
  )
  const releases = stored.flatMap((row, index) => releaseOf(row, opened[index] ?? null) ?? [])
  return { version: rows[0]?.version, releases }
}

function releaseOf(row: ReleaseRow, plain: Uint8Array | null): StoredRelease | null {
  const { id, isLive, statement, signature } = row
  if (id === null || statement === null || signature === null || plain === null) return null
  const parsed = storedEnvelopes.safeParse(parseJson(plain))
  if (!parsed.success) return null
  const signed = { statement, signature: toBase64(signature) }
  return { id, isLive, signed, envelopes: parsed.data }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(fromUtf8(bytes) ?? '')
  } catch {
    return null
  }
}
