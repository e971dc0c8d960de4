/** What is known of one request, as its audit record wants it: it grows while the steps are taken. */

import type { LiveToken } from '../access/tokens.ts'
import type { Entry, Outcome } from '../audit/trail.ts'
import type { Call } from '../outbound/call.ts'
import type { Placeholder } from '../outbound/placeholders.ts'
import type { Target } from '../outbound/target.ts'
import { Fault } from '../platform/fault.ts'
import type { Scope } from './credentials.ts'
import type { Basis } from './live_calls.ts'

export class Decision {
  readonly #token: LiveToken
  readonly #startedAt = performance.now()
  readonly #timestamp = new Date()
  #method: string | null = null
  #scope: Scope
  #placeholders: readonly Placeholder[] = []
  target: Target | null = null
  readonly id: string

  /** The request's own id, a UUID of version 7, is the record's id too. */
  constructor(token: LiveToken, requestId: string) {
    this.#token = token
    this.id = requestId
    this.#scope = { projectId: token.projectId, environment: token.environment ?? '' }
  }

  sees(call: Call, target: Target): void {
    this.#method = call.method
    this.target = target
  }

  asks(scope: Scope, placeholders: readonly Placeholder[]): void {
    this.#scope = scope
    this.#placeholders = placeholders
  }

  /** A token of the whole workspace: its record names the project that its secrets turned out to be of. */
  finds(secrets: Iterable<{ projectId: string }>): void {
    const projects = new Set([...secrets].map(({ projectId }) => projectId))
    const [only] = projects
    if (this.#scope.projectId !== null || only === undefined || projects.size > 1) return
    this.#scope = { ...this.#scope, projectId: only }
  }

  /** What a call that was let through stands on, for as long as it is open. */
  get basis(): Basis | null {
    const { target } = this
    if (target === null || this.#method === null) return null
    return {
      token: this.#token,
      scope: this.#scope,
      placeholders: this.#placeholders,
      target,
      method: this.#method,
    }
  }

  /** The record as it stands: a refusal is complete, a plan still waits for its outcome. */
  entry(policyVersion: number, refusal: unknown): Entry {
    const { id, workspaceId, registrationId, name, kind } = this.#token
    const fault = refusal instanceof Fault ? refusal : null
    return {
      id: this.id,
      workspace_id: workspaceId,
      policy_version: policyVersion,
      token_id: id,
      registration_id: registrationId,
      agent_id: name,
      identity_level: kind,
      timestamp: this.#timestamp,
      project_id: this.#scope.projectId,
      environment: this.#scope.environment || null,
      method: this.#method,
      target_url: this.target?.auditUrl ?? null,
      target_path: this.target?.path ?? null,
      target_domain: this.target?.domain ?? null,
      credential_ref: this.#joined('name'),
      injection_style: this.#joined('style'),
      decision: fault ? decisionOf(fault) : 'allowed',
      reason: fault?.code ?? null,
      status_code: fault?.status ?? null,
      duration_ms: fault ? this.#elapsed() : null,
      redacted: fault ? false : null,
    }
  }

  outcome(statusCode: number, redacted: boolean): Outcome {
    return {
      id: this.id,
      decision: 'allowed',
      reason: null,
      status_code: statusCode,
      duration_ms: this.#elapsed(),
      redacted,
    }
  }

  /** It had been let through: whatever ended it, and be it the workspace's word, blocked it was not. */
  failure({ status, code }: Fault, redacted = false): Outcome {
    return { ...this.outcome(status, redacted), decision: 'error', reason: code }
  }

  /** The caller left before there was an answer: 499, which nobody received. */
  abandonment(): Outcome {
    return { ...this.outcome(499, false), decision: 'error', reason: 'caller_gone' }
  }

  #joined(field: 'name' | 'style'): string | null {
    if (this.#placeholders.length === 0) return null
    const uses = new Map(this.#placeholders.map((use) => [`${use.name}/${use.style}`, use]))
    return [...uses.values()].map((use) => use[field]).join(',')
  }

  #elapsed(): number {
    return Math.round(performance.now() - this.#startedAt)
  }
}

/** 403 is the workspace's own word; everything else went wrong. */
function decisionOf({ status }: Fault): Entry['decision'] {
  return status === 403 ? 'blocked' : 'error'
}
