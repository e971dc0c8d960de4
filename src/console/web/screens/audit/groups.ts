/** An import of 59 secrets is 59 records: consecutive ones of one change are one line. */
import type { CallResult } from '../../../../client/http/api.ts'
import type { listAuditLogs } from '../../../../features/audit/contract.ts'

export type ListedRecord = CallResult<typeof listAuditLogs>[number]

/** Milliseconds between two records of one change. */
const APART_MS = 5_000

/** `id` is that of the first record, in whatever order they are listed. */
export type RecordGroup = { id: string; records: [ListedRecord, ...ListedRecord[]] }

/** Calls stay by themselves: each has a result. */
export function groupRecords(records: readonly ListedRecord[]): RecordGroup[] {
  const groups: RecordGroup[] = []
  for (const record of records) {
    const last = groups.at(-1)
    if (last && isOneChange(last.records, record)) last.records.push(record)
    else groups.push({ id: record.id, records: [record] })
  }
  return groups
}

function isOneChange(group: readonly ListedRecord[], next: ListedRecord): boolean {
  const before = group.at(-1)
  if (before === undefined || next.action === null || next.source !== 'control_plane') return false
  const between = Date.parse(before.timestamp) - Date.parse(next.timestamp)
  return Math.abs(between) <= APART_MS && changeOf(before) === changeOf(next)
}

/** An import creates some secrets and updates others. */
function changeOf({ action, user_id, agent_id, project_id, environment, decision }: ListedRecord) {
  const stored = action === 'secret.updated' ? 'secret.created' : action
  return JSON.stringify([stored, user_id, agent_id, project_id, environment, decision])
}
