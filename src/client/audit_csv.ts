/** Audit records as CSV for spreadsheets. Escapes values that a spreadsheet would run as formulas. */
import type { z } from 'zod'
import { listUnfilled } from '../core/policy/unfilled.ts'
import type { auditRecord } from '../features/audit/contract.ts'

type AuditRecord = z.input<typeof auditRecord>
type Cell = string | number | boolean | null | undefined

const columns = {
  timestamp: ({ timestamp }) => String(timestamp),
  source: ({ source }) => source,
  identity_level: ({ identity_level }) => identity_level,
  agent_id: ({ agent_id }) => agent_id,
  token_id: ({ token_id }) => token_id,
  user_id: ({ user_id }) => user_id,
  project_id: ({ project_id }) => project_id,
  environment: ({ environment }) => environment,
  action: ({ action }) => action,
  resource: ({ resource }) => resource?.name ?? resource?.id,
  method: ({ method }) => method,
  target_url: ({ target_url }) => target_url,
  credential_ref: ({ credential_ref }) => credential_ref,
  injection_style: ({ injection_style }) => injection_style,
  decision: ({ decision }) => decision,
  reason: ({ reason }) => reason,
  status_code: ({ status_code }) => status_code,
  duration_ms: ({ duration_ms }) => duration_ms,
  redacted: ({ redacted }) => redacted,
  id: ({ id }) => id,
  unfilled: ({ unfilled }) => listUnfilled(unfilled ?? []),
  approval_id: ({ approval_id }) => approval_id,
} satisfies Record<string, (record: AuditRecord) => Cell>

const LINE_END = '\r\n'

export function csvHead(): string {
  return Object.keys(columns).join(',') + LINE_END
}

export function csvLine(record: AuditRecord): string {
  const cells = Object.values(columns).map((of) => csvCell(of(record)))
  return cells.join(',') + LINE_END
}

/** Characters that start a formula at the beginning of a cell, also where cells end at semicolons or tabs. */
const FORMULA = /(^|[;\t])(\s*)(?=[=+\-@\t\r\n|%＝＋－＠])/g

/** Text that a spreadsheet would calculate begins with an apostrophe. */
export function csvCell(value: Cell): string {
  const text = String(value ?? '')
  const inert = typeof value === 'string' ? text.replace(FORMULA, "$1'$2") : text
  return /[",\r\n]|^'/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}
