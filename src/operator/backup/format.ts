/**
 * The format of a backup: lines of JSON, compressed, and for recipients encrypted with age.
 *
 * {"format":"cloakroom backup 1", …} version, schema, keys, tables {"table":"users"} then each row, a JSON text a line;
 * then the next table {"sums":{"users":{…}, …}} count and SHA-256 of each table {"sha256":"…","mac":"…"} of all lines
 * before; the code is made under ENCRYPTION_KEY
 *
 * The last line makes the file a backup: a truncated, altered or forged one fails the check, and none of it is used.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { type OuterKeyEntry, parseOuterKeys } from '../../core/crypto/outer_keys.ts'
import { hkdf } from '../../core/crypto/primitives.ts'
import { BackupProblem } from './problem.ts'

export const FORMAT = 'cloakroom backup 1'

const hash = z.string().regex(/^[0-9a-f]{64}$/)
const keyId = z.string().regex(/^[0-9a-f]{8}$/)

export const headerShape = z.strictObject({
  format: z.literal(FORMAT),
  version: z.string().max(100),
  created_at: z.iso.datetime(),
  /** The database's migrations. A later version restores the backup and applies the others. */
  migrations: z.array(z.strictObject({ name: z.string().max(200), sha256: hash })).max(10_000),
  /** Ids of the outer-layer keys that rows are sealed under. The first also signs the backup. */
  keys: z.array(keyId).min(1).max(1000),
  tables: z
    .array(z.strictObject({ name: z.string().max(100), columns: z.string().max(20_000) }))
    .max(1000),
})
export const sumsShape = z.strictObject({
  sums: z.record(
    z.string(),
    z.strictObject({ rows: z.number().int().nonnegative(), sha256: hash }),
  ),
})
export const sealShape = z.strictObject({ sha256: hash, mac: hash })

export type Header = z.output<typeof headerShape>
export type BackupSums = z.output<typeof sumsShape>['sums']

/** @throws BackupProblem unless all keys that the backup needs are given */
export function backupKeyOf({ keys }: Pick<Header, 'keys'>, encryptionKey: string): OuterKeyEntry {
  const given = parseOuterKeys(encryptionKey)
  const missing = keys.filter((id) => !given.some((key) => key.id === id))
  const first = given.find(({ id }) => id === keys[0])
  if (missing.length === 0 && first) return first
  throw new BackupProblem(
    'invalid_file',
    `ENCRYPTION_KEY cannot decrypt this backup: it needs the key with ID ${missing.join(', ')}, but ENCRYPTION_KEY has ${given.map(({ id }) => id).join(', ')}`,
  )
}

export function sealOf(digest: string, { bytes }: OuterKeyEntry): z.output<typeof sealShape> {
  const key = hkdf(bytes, new Uint8Array(), 'cloakroom/v1/backup')
  return { sha256: digest, mac: createHmac('sha256', key).update(digest).digest('hex') }
}

export function isAuthentic(
  seal: z.output<typeof sealShape>,
  digest: string,
  key: OuterKeyEntry,
): boolean {
  const right = sealOf(digest, key)
  return (
    seal.sha256 === digest &&
    timingSafeEqual(Buffer.from(seal.mac, 'hex'), Buffer.from(right.mac, 'hex'))
  )
}
