/**
 * Checks stored records against the contract. Invalid ones, from another program or a later version, are skipped, with
 * their IDs in the log.
 */

import type { Log } from '../../core/log.ts'
import { shape } from '../../http/validation/shape.ts'
import { auditRecord } from './contract.ts'

/** Ids in one line of the log. */
const MAX_NAMED = 20

export function selectFitting<Row extends { id: string }>(rows: readonly Row[], log: Log): Row[] {
  const unfit = new Set(rows.filter((row) => !('data' in shape(auditRecord, row))))
  if (unfit.size === 0) return [...rows]
  const named = [...unfit].slice(0, MAX_NAMED).map(({ id }) => id)
  log.error('invalid audit records were skipped', {
    records: unfit.size,
    ids: named.join(' '),
  })
  return rows.filter((row) => !unfit.has(row))
}
