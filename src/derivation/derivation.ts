/**
 * Builds the request that derives a credential from a root, and reads the credential in its answer (protocol 13.3).
 * Pure: the caller has checked the endpoint's host and address.
 */
import type { DerivedKind } from '../core/policy/policy.ts'
import { awsRole } from './aws_role.ts'
import {
  type Derivation,
  MAX_ANSWER_BYTES,
  type Outcome,
  retryLater,
  type TokenAnswer,
  type TokenRequest,
} from './exchange.ts'
import { githubApp } from './github_app.ts'
import { oauth2 } from './oauth2.ts'
import type { Root } from './root.ts'
import type { DerivedState } from './state_form.ts'

export type { Outcome, TokenAnswer, TokenRequest }

const derivations: { [K in DerivedKind]: Derivation<Extract<Root, { kind: K }>> } = {
  oauth2,
  github_app: githubApp,
  aws_role: awsRole,
}

/** The table pairs each kind with its own derivation. */
function derivationOf({ kind }: Root): Derivation<Root> {
  return derivations[kind] as Derivation<Root>
}

/** The token endpoint: its host must be on the allowlist. */
export function endpointOf(root: Root): URL {
  return derivationOf(root).findEndpoint(root)
}

/**
 * The POST that derives a credential.
 *
 * @param nowMs Unix milliseconds, for assertions and signatures
 * @throws Fault `unusable_secret` for a private key that cannot sign
 */
export function buildRequest(
  root: Root,
  state: DerivedState | null,
  nowMs: number,
): Promise<TokenRequest> {
  return derivationOf(root).buildRequest(root, state, nowMs)
}

/**
 * The meaning of an answer. Never throws, because every answer has one.
 *
 * @param nowMs Unix milliseconds at which the answer arrived
 */
export function readOutcome(
  root: Root,
  answer: TokenAnswer | 'unreachable' | 'timeout',
  request: TokenRequest,
  nowMs: number,
): Outcome {
  if (typeof answer === 'string') return retryLater(answer)
  if (answer.body.length > MAX_ANSWER_BYTES) return retryLater('answer_too_large')
  return derivationOf(root).readAnswer(root, answer, request, nowMs)
}
