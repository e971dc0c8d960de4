/**
 * Reports of requests that clients made themselves. A record is stored under its sender's identity, whatever it claims to
 * be. A client id makes a repeat harmless: a repeat is counted and not stored, and the same id with other content refuses
 * the whole batch. Each reporter has its own client ids, so no agent can take the ids of another (client_id.ts).
 */

import { and, eq, inArray } from 'drizzle-orm'
import type { Reporter, ReporterOf } from '../../access/reporters.ts'
import type { BodyAccount } from '../../core/body_memory.ts'
import { sha256 } from '../../core/crypto/primitives.ts'
import { buildFieldFault, Fault } from '../../core/fault.ts'
import type { Transaction } from '../../database/open.ts'
import { auditLogs, projects } from '../../database/schema/index.ts'
import { buildCommonHeaders, present } from '../../http/reply.ts'
import { readBody } from '../../http/request_body.ts'
import { createRawRoute, type RequestContext, type Route } from '../../http/route.ts'
import type { FeatureServices } from '../../http/services.ts'
import { deriveStoredClientId, ownerOf } from './client_id.ts'
import { MAX_AHEAD_MS, recordAuditLogs } from './contract.ts'
import { insertReported, type Row } from './insert_reported.ts'
import { MAX_JOINED, type ReportedRecord } from './reported_record.ts'

export function ingestionRoutes(
  services: Pick<FeatureServices, 'db' | 'clock'>,
  reporterOf: ReporterOf,
): Route[] {
  return [
    createRawRoute(recordAuditLogs, async (context: RequestContext) => {
      const { request, requestId, expectBytes, countBodies } = context
      const reporter = await reporterOf(recordAuditLogs, context)
      expectBytes(recordAuditLogs.bodyLimit)
      const records = await readRecords(
        request,
        countBodies(reporter.workspaceId),
        services.clock.now(),
      )
      const rows = records.map((record) => rowOf(reporter, record))
      const stored = await services.db.transaction((tx) => store(tx, reporter, rows))
      return present(recordAuditLogs, stored, buildCommonHeaders(requestId))
    }),
  ]
}

/** @throws Fault of the body, with the position of each record that is refused */
async function readRecords(
  request: Request,
  account: BodyAccount,
  now: number,
): Promise<ReportedRecord[]> {
  const { body: schema, bodyLimit } = recordAuditLogs
  const body = await readBody(request, schema, { limit: bodyLimit, account })
  const records = Array.isArray(body) ? body : [body]
  requireFewNames(records)
  const fields = records.flatMap(({ timestamp }, index) =>
    timestamp.getTime() > now + MAX_AHEAD_MS
      ? [
          {
            path: Array.isArray(body) ? `${index}.timestamp` : 'timestamp',
            message: 'is more than 5 minutes in the future',
          },
        ]
      : [],
  )
  if (fields.length > 0) throw new Fault('validation_error', { fields: fields.slice(0, 100) })
  return records
}

/**
 * The counts have a row for each name and hour, and one for its day. A short name must not become more than the record that
 * was sent for it; one record with all names that it may have always fits.
 */
function requireFewNames(records: readonly ReportedRecord[]): void {
  const most = MAX_JOINED + records.length
  const counted = new Set(
    records.flatMap(({ credential_ref: names, timestamp }) => {
      const hour = timestamp.toISOString().slice(0, 13)
      return names?.split(',').map((name) => `${hour} ${name}`) ?? []
    }),
  )
  if (counted.size <= most) return
  const message = `has ${counted.size} names in credential_ref, which are counted once per hour; ${records.length} records may have ${most}: send fewer records`
  throw buildFieldFault('', message)
}

function rowOf(reporter: Reporter, record: ReportedRecord): Row {
  const row = {
    ...reporter,
    timestamp: record.timestamp,
    source: 'client' as const,
    projectId: reporter.projectId ?? record.project_id ?? null,
    environment: reporter.environment ?? record.environment ?? null,
    method: record.method,
    targetUrl: record.target_url,
    targetPath: record.target_path,
    targetDomain: record.target_domain,
    credentialRef: record.credential_ref || null,
    injectionStyle: record.injection_style || null,
    decision: record.decision ?? ('allowed' as const),
    reason: record.reason ?? null,
    // Only where a record has them, so that the hash of a record reported before they existed stays the same.
    ...(record.refused_by ? { refusedBy: record.refused_by } : {}),
    ...(record.unfilled?.length ? { unfilled: record.unfilled } : {}),
    statusCode: record.status_code ?? null,
    durationMs: record.duration_ms ?? null,
    redacted: record.redacted ?? null,
  }
  const id = Bun.randomUUIDv7()
  if (!record.id) return { ...row, id, clientId: null, contentHash: null }
  return {
    ...row,
    id,
    clientId: deriveStoredClientId(reporter, record.id),
    contentHash: hashOf(row),
  }
}

/** Without the token's id: a new token of the same agent may repeat a record that the old one sent. */
function hashOf({ tokenId, ...content }: Omit<Row, 'id'>): Uint8Array {
  const entries = Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1))
  return sha256(JSON.stringify([ownerOf({ ...content, tokenId }), entries]))
}

/** @throws Fault `not_found` for a foreign project, `conflict` */
async function store(tx: Transaction, reporter: Reporter, rows: readonly Row[]) {
  await requireOwnProjects(tx, reporter, rows)
  const named = new Map<string, Row>()
  for (const row of rows) {
    const earlier = row.clientId ? named.get(row.clientId) : undefined
    if (earlier) requireSame(earlier.contentHash, row.contentHash)
    else if (row.clientId) named.set(row.clientId, row)
  }
  // In one order everywhere, so that two batches with the same ids wait for each other and no more.
  const inOrder = [...named.values()].sort((a, b) =>
    (a.clientId ?? '') < (b.clientId ?? '') ? -1 : 1,
  )
  const created = await insertReported(tx, [
    ...inOrder,
    ...rows.filter(({ clientId }) => !clientId),
  ])
  const repeated = inOrder.filter(({ id }) => !created.has(id))
  const known = await findRepeated(tx, reporter, repeated)
  const ids = rows.map(({ id, clientId }) => {
    const first = clientId ? named.get(clientId)?.id : id
    return first !== undefined && created.has(first) ? first : known.get(clientId ?? '')
  })
  return { created: created.size, duplicates: rows.length - created.size, ids }
}

/** A project of another workspace is 404, like one that does not exist. */
async function requireOwnProjects(
  tx: Transaction,
  reporter: Reporter,
  rows: readonly Row[],
): Promise<void> {
  const named = [...new Set(rows.flatMap(({ projectId }) => projectId ?? []))].filter(
    (projectId) => projectId !== reporter.projectId,
  )
  if (named.length === 0) return
  const own = await tx
    .select({ id: projects.id })
    .from(projects)
    .where(and(eq(projects.workspaceId, reporter.workspaceId), inArray(projects.id, named)))
  if (own.length < named.length) throw new Fault('not_found')
}

/** The ids under which repeated records were stored the first time, by client id. */
async function findRepeated(
  tx: Transaction,
  { workspaceId }: Reporter,
  repeated: readonly Row[],
): Promise<Map<string, string>> {
  if (repeated.length === 0) return new Map()
  const sent = new Map(repeated.map(({ clientId, contentHash }) => [clientId, contentHash]))
  const stored = await tx
    .select({
      id: auditLogs.id,
      clientId: auditLogs.clientId,
      contentHash: auditLogs.contentHash,
    })
    .from(auditLogs)
    .where(
      and(
        eq(auditLogs.workspaceId, workspaceId),
        inArray(
          auditLogs.clientId,
          repeated.flatMap(({ clientId }) => clientId ?? []),
        ),
      ),
    )
  // A record that retention deleted just now is a conflict: the client retries.
  if (stored.length < repeated.length) throw new Fault('conflict')
  for (const { clientId, contentHash } of stored) requireSame(contentHash, sent.get(clientId))
  return new Map(stored.map(({ id, clientId }) => [clientId ?? '', id]))
}

function requireSame(a: Uint8Array | null | undefined, b: Uint8Array | null | undefined): void {
  if (a && b && Buffer.compare(a, b) === 0) return
  throw new Fault('conflict', {
    message: 'A record has the ID of another record with different content.',
  })
}
