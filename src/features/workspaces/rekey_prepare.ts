/**
 * What a rekey does before its transaction, in time slices: it checks, and seals under the outer layer.
 * The embedded database has one connection, and everybody waits for a transaction.
 */
import { TimeSlice } from '../../core/async/time_slice.ts'
import { fromBase64, toBase64 } from '../../core/crypto/encoding.ts'
import { type OuterLayer, secretRow } from '../../core/crypto/outer_layer.ts'
import type { Grant } from '../../core/grant.ts'
import type { Reading } from '../../database/open.ts'
import { chainOf, type SignedServices } from '../links/index.ts'
import type { RekeyBody } from './contract.ts'
import { requireHeld, requireNextEpoch, requireOnce } from './rekey_checks.ts'
import {
  type HeldSecret,
  type Holdings,
  placeOf,
  readHolders,
  readSecrets,
  readVersions,
} from './rekey_holdings.ts'
import { type Hashes, judgeSigned, keepHash, type SignedRekey } from './rekey_signed.ts'

type Rekey = Grant<'workspace.update'>

/** Rows to be written by one statement, as the text of a JSON array. */
export type SealedSecrets = string

export type PreparedRekey = {
  /** What was read and sealed holds while the workspace has this version. */
  policyVersion: number
  secrets: Holdings['secrets']
  sealed: SealedSecrets[]
  /** Null in a plain workspace, and where the link is none that could be stored. */
  signed: SignedRekey | null
}

/** Rows, and characters of base64, that are sealed in one go: what is made of them takes milliseconds. */
const PORTION_ROWS = 200
const PORTION_LENGTH = 262_144
/** The same per statement: the database takes longer to prepare one than for some thousand rows. */
const STATEMENT_ROWS = 5000
const STATEMENT_LENGTH = 1_048_576

/** @throws Fault for what was not right at some moment since the request came */
export async function prepareRekey(
  db: Reading,
  services: SignedServices,
  grant: Rekey,
  body: RekeyBody,
): Promise<PreparedRekey> {
  await requireOnce(body)
  // First: what changes after it is noticed.
  const { epoch, policyVersion } = await readVersions(db, grant)
  await requireNextEpoch(epoch, body)
  const before = await chainOf({ tx: db, grant }, services)
  const secrets = await readSecrets(db, grant)
  const held = { ...(await readHolders(db, grant, before)), secrets }
  await requireHeld(held, body)
  const hashes: Hashes | null = before ? new Map() : null
  const sealed = await sealSecrets(services.outer, grant, { held: secrets, hashes }, body)
  const signed = await judgeSigned({ db, grant }, services, { before, held, hashes }, body)
  return { policyVersion, secrets, sealed, signed }
}

async function sealSecrets(
  outer: OuterLayer,
  { workspaceId }: Rekey,
  { held, hashes }: { held: Holdings['secrets']; hashes: Hashes | null },
  body: RekeyBody,
): Promise<SealedSecrets[]> {
  const sealed: SealedSecrets[] = []
  const slice = new TimeSlice()
  let rows: unknown[] = []
  let length = 0
  const close = () => {
    sealed.push(JSON.stringify(rows))
    rows = []
    length = 0
  }
  for (const portion of portions(body.secrets, ({ value }) => value.length)) {
    const sealing = portion.map((sent) =>
      sealSecret(outer, workspaceId, held.get(placeOf(sent)), { ...sent, hashes }),
    )
    rows.push(...(await Promise.all(sealing)))
    length += portion.reduce((sum, { value }) => sum + value.length, 0)
    if (rows.length >= STATEMENT_ROWS || length >= STATEMENT_LENGTH) close()
    if (slice.isSpent) await slice.next()
  }
  if (rows.length > 0) close()
  return sealed
}

async function sealSecret(
  outer: OuterLayer,
  workspaceId: string,
  stored: HeldSecret | undefined,
  sent: RekeyBody['secrets'][number] & { hashes: Hashes | null },
) {
  if (!stored) throw new TypeError('a secret was not checked')
  const { id, project_id: projectId, environment, key } = stored
  const version = stored.version + 1
  const row = secretRow({ projectId, environment, key })
  const ciphertext = decodeValid(sent.value)
  const hash = sent.hashes && keepHash(sent.hashes, stored, ciphertext)
  const [sealed, sealedVersion] = await Promise.all([
    outer.seal('secrets.value', workspaceId, row, ciphertext),
    outer.seal('secret_versions.value', workspaceId, [...row, { u32: version }], ciphertext),
  ])
  const value_hash = hash && toBase64(hash)
  return {
    id,
    version,
    sealed: toBase64(sealed),
    sealed_version: toBase64(sealedVersion),
    value_hash,
  }
}

/** Base64 that the contract has let through. */
export function decodeValid(base64: string): Uint8Array {
  const bytes = fromBase64(base64)
  if (!bytes) throw new TypeError('a value was not validated')
  return bytes
}

/** Of at least one entry each. */
export function* portions<T>(list: readonly T[], lengthOf: (entry: T) => number): Generator<T[]> {
  let portion: T[] = []
  let length = 0
  for (const entry of list) {
    portion.push(entry)
    length += lengthOf(entry)
    if (portion.length < PORTION_ROWS && length < PORTION_LENGTH) continue
    yield portion
    portion = []
    length = 0
  }
  if (portion.length > 0) yield portion
}
