/** A member's permissions, by one snapshot of the vault. */

import { Unread } from '../../core/async/unread.ts'
import type { CallPermission, UsableSecret } from '../../outbound/policy/permission.ts'
import { openPart, partNamed, withParts } from '../../outbound/stand_ins/parts.ts'
import type { VaultSnapshot } from './vault_snapshot.ts'

export type PermittedPlace = { projectId: string; environment: string }

/** The allowlist, and all secrets of one environment. */
export function permissionOf(
  { projectId, environment }: PermittedPlace,
  vault: Promise<VaultSnapshot>,
): CallPermission {
  const snapshot = readOnce(() => vault)
  const guard = readOnce(() => snapshot().guard())
  const find = (names: readonly string[]) =>
    names.flatMap((name): UsableSecret[] => {
      const sealed = snapshot().sealed(name)
      if (!sealed) return []
      const { policy } = sealed
      return [{ name, projectId, policy, open: () => snapshot().open(sealed) }]
    })
  return {
    holder: 'this session',
    allows: ({ host, port }) => snapshot().allows(host, port),
    scope: () => ({ projectId, environment }),
    placeable: () => (name, style) =>
      (
        snapshot().sealed(name) ?? snapshot().sealed(partNamed(name)?.base ?? '')
      )?.policy?.allowed_locations?.includes(style) ?? false,
    guard,
    remember: (tokens) => snapshot().remember(tokens),
    secrets: (names) =>
      withParts(names, find, (secret, name) => ({
        ...secret,
        name,
        open: () => openPart(secret.open(), name),
      })),
  }
}

/** Reads a value the first time that it is needed. @throws Unread */
function readOnce<T>(read: () => Promise<T>): () => T {
  let known: { value: T } | null = null
  return () => {
    if (known) return known.value
    throw new Unread(
      read().then((value) => {
        known = { value }
      }),
    )
  }
}
