/**
 * The outer layer around stored ciphertexts (protocol 3.4): each is bound to its
 * workspace, project, environment and key, and an old version to its number, so that a blob moved
 * to another row does not open.
 */
import { toBase64 } from '../../core/crypto/encoding.ts'
import { type OuterLayer, type OuterPart, secretRow } from '../../core/crypto/outer_layer.ts'
import type { SecretPlace } from '../../core/crypto/secret_value.ts'
import { Fault } from '../../core/fault.ts'

type VersionRow = SecretPlace & { version: number }

/** The client's ciphertext of a stored secret, or `null` when what is stored does not belong there. */
export function openStoredSecret(
  outer: OuterLayer,
  workspaceId: string,
  row: SecretPlace & { sealed: Uint8Array },
): Promise<Uint8Array | null> {
  return outer.open('secrets.value', workspaceId, secretRow(row), row.sealed)
}

/** The same of many, in their order. */
export function openStoredSecrets(
  outer: OuterLayer,
  workspaceId: string,
  rows: readonly (SecretPlace & { sealed: Uint8Array })[],
): Promise<(Uint8Array | null)[]> {
  const stored = rows.map((row) => ({ row: secretRow(row), blob: row.sealed }))
  return outer.openAll('secrets.value', workspaceId, stored)
}

export function sealStoredSecret(
  outer: OuterLayer,
  workspaceId: string,
  row: SecretPlace,
  ciphertext: Uint8Array,
): Promise<Uint8Array> {
  return outer.seal('secrets.value', workspaceId, secretRow(row), ciphertext)
}

/** The binding of a row of the versions. */
export function openVersion(
  outer: OuterLayer,
  workspaceId: string,
  row: VersionRow & { sealed: Uint8Array },
): Promise<Uint8Array | null> {
  return outer.open('secret_versions.value', workspaceId, versionIdentity(row), row.sealed)
}

export function openVersions(
  outer: OuterLayer,
  workspaceId: string,
  rows: readonly (VersionRow & { sealed: Uint8Array })[],
): Promise<(Uint8Array | null)[]> {
  const stored = rows.map((row) => ({ row: versionIdentity(row), blob: row.sealed }))
  return outer.openAll('secret_versions.value', workspaceId, stored)
}

export function sealVersion(
  outer: OuterLayer,
  workspaceId: string,
  row: VersionRow,
  ciphertext: Uint8Array,
): Promise<Uint8Array> {
  return outer.seal('secret_versions.value', workspaceId, versionIdentity(row), ciphertext)
}

/**
 * Adds the ciphertexts of a page as they go on the wire. Rows that were read without theirs are not copied, which
 * would be a tenth of what a list of names costs.
 *
 * @throws Fault `unreadable_secret` naming the key
 */
export async function addCiphertexts<Row extends { sealed: Uint8Array | null }>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  openAll: (rows: readonly Sealed<Row>[]) => Promise<(Uint8Array | null)[]>,
): Promise<(Row & { value?: string })[]> {
  if (!rows.every(hasCiphertext)) return [...rows]
  const opened = await openAll(rows)
  return rows.map((row, index) => {
    const ciphertext = opened[index]
    if (!ciphertext) throw unreadable(keyOf(row))
    return { ...row, value: toBase64(ciphertext) }
  })
}

type Sealed<Row> = Row & { sealed: Uint8Array }

/** Whether a row was read with its ciphertext. */
export function hasCiphertext<Row extends { sealed: Uint8Array | null }>(
  row: Row,
): row is Sealed<Row> {
  return row.sealed !== null
}

/** The refusal of what does not open; it names the secret and nothing else. */
export function unreadable(key: string): Fault {
  return new Fault('unreadable_secret', {
    fields: [{ path: key, message: 'was altered or moved in the database' }],
  })
}

function versionIdentity(row: VersionRow): OuterPart[] {
  return [...secretRow(row), { u32: row.version }]
}
