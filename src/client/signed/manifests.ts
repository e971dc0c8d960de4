/**
 * The stored secrets of an environment in a signed workspace are exactly those in its manifest: names and ciphertexts.
 * Changed, missing, added or restored rows fail verification.
 */
import { type Bytes, fromBase64, fromBase64Url } from '../../core/crypto/encoding.ts'
import { webSha256 } from '../../core/crypto/web_primitives.ts'
import {
  type Chain,
  manifestRoot,
  Refusal,
  type Rows,
  type SignedText,
  verifyManifest,
} from '../../sigchain/index.ts'
import type { KnownManifest } from './chain.ts'
import type { Place } from './statements.ts'

/** A verified environment. Revision 0 means that it was never written. */
export type StoredRows = KnownManifest & { rows: Rows }

/** A listed secret: the hash of its raw value counts, or the server's hash if the value is missing. */
type Listed = { key: string; value?: string | undefined; value_sha256?: string | null | undefined }

/** @throws Refusal for rows that differ from the signed ones, and for a manifest older than `seen` */
export async function verifyStored(
  chain: Chain,
  place: Place & { seen?: KnownManifest | undefined },
  rows: Rows,
  manifest: SignedText | null | undefined,
): Promise<StoredRows> {
  if (manifest) {
    const { revision, root, headSeq } = await verifyManifest(chain, manifest, { ...place, rows })
    return { revision, root, headSeq, rows }
  }
  if (place.seen) throw new Refusal('revision', 'it is missing', 'the manifest')
  if (rows.size > 0) throw new Refusal('root', 'it is missing', 'the manifest')
  return { revision: 0, root: await manifestRoot(rows), rows }
}

/** @throws Refusal for a secret without a hash, or one that is listed twice */
export async function manifestRows(listed: readonly Listed[]): Promise<Rows> {
  const rows = new Map(
    await Promise.all(listed.map(async (each) => [each.key, await hashOf(each)] as const)),
  )
  if (rows.size === listed.length) return rows
  throw new Refusal('root', 'a name is listed twice', 'the manifest')
}

async function hashOf({ value, value_sha256 }: Listed): Promise<Bytes> {
  const raw = value === undefined ? null : fromBase64(value)
  const hash = raw ? await webSha256(raw) : fromBase64Url(value_sha256 ?? '')
  if (hash?.length === 32) return hash
  throw new Refusal('root', 'a secret has no hash', 'the manifest')
}
