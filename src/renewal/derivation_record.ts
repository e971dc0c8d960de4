/** The audit record of a renewal: the secret, the endpoint's host and how it ended. The endpoint's text is in no record. */
import { entryOf } from '../access/entry.ts'
import type { LiveToken } from '../access/tokens.ts'
import type { Entry, RecordedOutcome } from '../audit/trail.ts'
import type { SecretPlace } from '../core/crypto/secret_value.ts'
import type { TokenRequest } from '../derivation/derivation.ts'
import { parseTarget } from '../outbound/target.ts'

type Used = { token: LiveToken; policyVersion: number; place: SecretPlace }

export class DerivationRecord {
  readonly entry: Entry
  readonly #started = performance.now()

  constructor({ token, policyVersion, place }: Used, { url }: TokenRequest) {
    const known = {
      id: Bun.randomUUIDv7(),
      startedAt: new Date(),
      projectId: place.projectId,
      environment: place.environment,
      method: 'POST',
      target: parseTarget(url),
      uses: [{ name: place.key, style: '' }],
      action: 'credential.derived' as const,
    }
    this.entry = { ...entryOf(token, policyVersion, known, null), injection_style: null }
  }

  /** @param code why there is no credential; `status` is `null` where the endpoint did not answer */
  conclusion(code: string | null, status: number | null): RecordedOutcome {
    return {
      id: this.entry.id,
      decision: code === null ? 'allowed' : 'error',
      reason: code,
      status_code: status ?? 502,
      duration_ms: Math.round(performance.now() - this.#started),
      redacted: false,
    }
  }
}
