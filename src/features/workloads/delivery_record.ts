/** A delivery in the audit: complete when it is written, because nothing can go wrong after it. */

import type { LiveToken } from '../../access/tokens.ts'
import type { Entry } from '../../audit/trail.ts'
import { Fault } from '../../platform/fault.ts'

export class DeliveryRecord {
  readonly #token: LiveToken
  readonly #id: string
  readonly #startedAt = performance.now()
  readonly #timestamp = new Date()
  #scope: { projectId: string | null; environment: string | null }
  #names: readonly string[] = []

  /** The request's own id, a UUID of version 7, is the record's id too. */
  constructor(token: LiveToken, requestId: string) {
    this.#token = token
    this.#id = requestId
    this.#scope = token
  }

  holds(scope: { projectId: string; environment: string }, names: readonly string[]): void {
    this.#scope = scope
    this.#names = names
  }

  /** `injection_style` is `env` also where nothing was delivered: it tells deliveries from calls. */
  entry(policyVersion: number, result: unknown): Entry {
    const fault = result instanceof Fault ? result : null
    const { id, workspaceId, registrationId, name, kind } = this.#token
    return {
      id: this.#id,
      workspace_id: workspaceId,
      policy_version: policyVersion,
      token_id: id,
      registration_id: registrationId,
      agent_id: name,
      identity_level: kind,
      timestamp: this.#timestamp,
      project_id: this.#scope.projectId,
      environment: this.#scope.environment,
      method: null,
      target_url: null,
      target_path: null,
      target_domain: null,
      credential_ref: this.#names.length === 0 ? null : this.#names.join(','),
      injection_style: 'env',
      decision: fault ? decisionOf(fault) : 'allowed',
      reason: fault?.code ?? null,
      status_code: fault?.status ?? 200,
      duration_ms: Math.round(performance.now() - this.#startedAt),
      redacted: false,
    }
  }
}

/** 403 is the workspace's own word; everything else went wrong. */
function decisionOf({ status }: Fault): Entry['decision'] {
  return status === 403 ? 'blocked' : 'error'
}
