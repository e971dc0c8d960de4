/** What is known of one request of the local backend, as its audit record wants it (section 8). */

import type { Placeholder } from '../outbound/placeholders.ts'
import type { Target } from '../outbound/target.ts'
import { Fault } from '../platform/fault.ts'

/** As POST /api/internal/audit/logs/ takes it: names and ids, never a value or a query. */
export type AuditRecord = {
  id: string
  timestamp: string
  method: string
  target_domain: string
  target_url: string | null
  project_id: string
  environment: string
  decision: 'allowed' | 'blocked' | 'error'
  reason: string | null
  status_code: number | null
  duration_ms: number | null
  redacted: boolean | null
  credential_ref: string | null
  injection_style: string | null
}

type Start = { id: string; method: string; host: string; projectId: string; environment: string }

/** Longer ones would be refused at ingestion: then the domain alone stands for the target. */
const MAX_URL = 8192
const MAX_NAMES = 100

export class RecordBook {
  readonly #start: Start
  readonly #startedAt = performance.now()
  readonly #timestamp = new Date().toISOString()
  #url: string | null = null
  #uses: readonly Placeholder[] = []

  constructor(start: Start) {
    this.#start = start
  }

  sees({ auditUrl }: Target): void {
    this.#url = auditUrl.length > MAX_URL ? null : auditUrl
  }

  asks(uses: readonly Placeholder[]): void {
    this.#uses = uses.slice(0, MAX_NAMES)
  }

  /** Before the credential leaves: without an outcome. */
  intent(): AuditRecord {
    const { id, method, host, projectId, environment } = this.#start
    return {
      id,
      timestamp: this.#timestamp,
      method,
      target_domain: host,
      target_url: this.#url,
      project_id: projectId,
      environment,
      decision: 'allowed',
      reason: null,
      status_code: null,
      duration_ms: null,
      redacted: null,
      credential_ref: this.#joined('name'),
      injection_style: this.#joined('style'),
    }
  }

  outcome(status: number, redacted: boolean): AuditRecord {
    const duration_ms = Math.round(performance.now() - this.#startedAt)
    return { ...this.intent(), status_code: status, duration_ms, redacted }
  }

  /** 403 is the workspace's own word; everything else went wrong. */
  failure({ status, code }: Fault, redacted = false): AuditRecord {
    const decision = status === 403 ? 'blocked' : 'error'
    return { ...this.outcome(status, redacted), decision, reason: code }
  }

  /** The program left before there was an answer: 499, which nobody received. */
  abandonment(): AuditRecord {
    return { ...this.outcome(499, false), decision: 'error', reason: 'caller_gone' }
  }

  #joined(field: 'name' | 'style'): string | null {
    return this.#uses.length === 0 ? null : this.#uses.map((use) => use[field]).join(',')
  }
}

/** Anything that is no fault is a defect of ours. */
export function faultOf(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('internal_error', { cause: error })
}
