/** Held secrets (protocol 14.1): conditions of a write, and its deletions. */
import { and, eq, inArray } from 'drizzle-orm'
import { readValueVersion } from '../../core/crypto/secret_value.ts'
import { Fault, type FieldFault } from '../../core/fault.ts'
import type { ProjectGrant } from '../../core/grant.ts'
import { isHeld } from '../../core/policy/policy.ts'
import type { Transaction } from '../../database/open.ts'
import { clientOf } from '../../database/prepared.ts'
import { deletedSecrets } from '../../database/schema/index.ts'
import { isSignedId } from '../../sigchain/index.ts'
import { MAX_FIELDS } from './shapes.ts'

type Write = ProjectGrant<'secret.write'>
type Entry = { path: string; policy?: unknown; ciphertext: Uint8Array }

/** @throws Fault `validation_error` for a held secret in a plain workspace, and where policy and version byte disagree */
export function requireForms({ workspaceId }: Write, entries: readonly Entry[]): void {
  const isSigned = isSignedId(workspaceId)
  const refused = entries.flatMap((entry) => complaintOf(entry, isSigned) ?? [])
  if (refused.length > 0)
    throw new Fault('validation_error', { fields: refused.slice(0, MAX_FIELDS) })
}

function complaintOf({ path, policy, ciphertext }: Entry, isSigned: boolean): FieldFault | null {
  if (isHeld(policy) && !isSigned)
    return { path: `${path}.policy.approval`, message: 'needs a signed workspace' }
  const message = formComplaint(policy, ciphertext)
  return message === null ? null : { path: `${path}.value`, message }
}

/** Another client's form has no version, and is not the form of a held secret. */
export function formComplaint(policy: unknown, ciphertext: Uint8Array): string | null {
  const isHeldForm = readValueVersion(ciphertext) === 2
  if (isHeldForm === isHeld(policy)) return null
  return isHeldForm
    ? 'is sealed for approvals, but its policy has no approval'
    : 'is not sealed for approvals, but its policy has approval'
}

type Stored = { policy: unknown }

/**
 * A rollback never changes which key opens the value. A write can, and deletes what tokens could read.
 *
 * @throws Fault `conflict`
 */
export function requireSameForm(current: Stored, earlier: Stored): void {
  if (isHeld(current.policy) === isHeld(earlier.policy)) return
  throw new Fault('conflict', {
    message:
      'Only one of the versions needs approval, so their keys differ. Set the value again instead.',
  })
}

/** A secret that is to be stored, with the policy that is stored of it; absent where the name is new. */
type Next = {
  id: string
  key: string
  version: number
  policy: unknown
  before?: Stored | undefined
}

const DROP_VERSIONS = `delete from secret_versions v
  using json_to_recordset($1::text::json) as r(id uuid, version integer)
  where v.secret_id = r.id and v.version < r.version`

/** For names that become held, deletes values that tokens could read: earlier versions, and deleted values. */
export async function dropReadable(
  tx: Transaction,
  { workspaceId, projectId }: Write,
  environment: string,
  next: readonly Next[],
): Promise<void> {
  const added = next.filter(({ policy, before }) => isHeld(policy) && !isHeld(before?.policy))
  if (added.length === 0) return
  const written = JSON.stringify(added.map(({ id, version }) => ({ id, version })))
  const names = added.map(({ key }) => key)
  await Promise.all([
    clientOf(tx).unsafe(DROP_VERSIONS, [written], { prepare: true }),
    tx
      .delete(deletedSecrets)
      .where(
        and(
          eq(deletedSecrets.workspaceId, workspaceId),
          eq(deletedSecrets.projectId, projectId),
          eq(deletedSecrets.environment, environment),
          inArray(deletedSecrets.key, names),
        ),
      ),
  ])
}
