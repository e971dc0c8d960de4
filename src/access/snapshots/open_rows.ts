/** Decrypts the outer layer of rows of secrets and their derived credentials. */
import { type OuterLayer, secretRow } from '../../core/crypto/outer_layer.ts'
import type { DerivedRow, SealedSecret } from '../../core/crypto/secret_value.ts'
import type { SecretRow } from './snapshot_queries.ts'

/** Decrypts rows in order. A row that cannot be decrypted is null. */
export async function openSecretRows(
  outer: OuterLayer,
  workspaceId: string,
  rows: readonly SecretRow[],
): Promise<SealedSecret[]> {
  const stored = rows.map((row) => ({ row: secretRow(row), blob: row.sealed }))
  const [opened, states] = await Promise.all([
    outer.openAll('secrets.value', workspaceId, stored),
    openStates(outer, workspaceId, rows),
  ])
  return rows.map((row, index) => {
    const { projectId, environment, key, policy } = row
    const secret = { projectId, environment, key, policy, ciphertext: opened[index] ?? null }
    return row.derived ? { ...secret, derived: derivedOf(row.derived, states.get(row)) } : secret
  })
}

async function openStates(
  outer: OuterLayer,
  workspaceId: string,
  rows: readonly SecretRow[],
): Promise<Map<SecretRow, Uint8Array | null>> {
  const sealed = rows.flatMap((row) =>
    row.sealedState ? [{ of: row, row: secretRow(row), blob: row.sealedState }] : [],
  )
  const opened = await outer.openAll('derived.state', workspaceId, sealed)
  return new Map(sealed.map(({ of }, index) => [of, opened[index] ?? null]))
}

function derivedOf(
  hints: Omit<DerivedRow, 'state'>,
  state: Uint8Array | null | undefined,
): DerivedRow {
  return { ...hints, state: state ?? null }
}

/** Returns a secret that cannot be used, because its value or state cannot be decrypted. */
export function toLockedSecret({ projectId, environment, key, policy }: SecretRow): SealedSecret {
  return { projectId, environment, key, policy, ciphertext: null }
}
