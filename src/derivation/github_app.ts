/** GitHub Apps: an installation token, requested with a JSON Web Token of the app. */
import { utf8 } from '../core/crypto/encoding.ts'
import { signAssertion } from './assertion.ts'
import {
  acceptToken,
  COMMON_HEADERS,
  DEFAULT_LIFETIME_S,
  type Derivation,
  lifetimeUntil,
  type Outcome,
  readSuccess,
  retryAnswer,
  type TokenAnswer,
  type TokenRequest,
} from './exchange.ts'
import { scalarText } from './json.ts'
import type { GithubAppRoot } from './root.ts'

/** GitHub refuses tokens from the future and those of more than 10 minutes. */
const ISSUED_AGO_S = 60
const EXPIRES_IN_S = 540
/** Wrong key or app; no such installation; repositories or permissions that it does not have. */
const FINAL_STATUSES = [401, 404, 422]

export const githubApp: Derivation<GithubAppRoot> = {
  findEndpoint,
  buildRequest,
  readAnswer,
}

function findEndpoint({ apiUrl, installationId }: GithubAppRoot): URL {
  const base = new URL(apiUrl).href.replace(/\/+$/, '')
  return new URL(`${base}/app/installations/${installationId}/access_tokens`)
}

async function buildRequest(
  root: GithubAppRoot,
  _state: unknown,
  nowMs: number,
): Promise<TokenRequest> {
  const now = Math.floor(nowMs / 1000)
  const claims = {
    iss: root.clientId ?? root.appId ?? '',
    iat: now - ISSUED_AGO_S,
    exp: now + EXPIRES_IN_S,
  }
  const assertion = await signAssertion(claims, root.privateKey, { only: 'RS256' })
  const narrowed = {
    ...(root.repositories && { repositories: root.repositories }),
    ...(root.permissions && { permissions: root.permissions }),
  }
  return {
    url: findEndpoint(root).href,
    headers: [
      ...COMMON_HEADERS,
      ['content-type', 'application/json'],
      ['authorization', `Bearer ${assertion}`],
    ],
    body: utf8(JSON.stringify(narrowed)),
    spendsRefreshToken: false,
  }
}

function readAnswer(
  _root: GithubAppRoot,
  answer: TokenAnswer,
  _request: TokenRequest,
  nowMs: number,
): Outcome {
  if (FINAL_STATUSES.includes(answer.status)) {
    return { kind: 'final', code: `http_${answer.status}`, mayHaveLostToken: false }
  }
  const success = readSuccess(answer)
  if (success === null) return retryAnswer(answer, nowMs)
  const untilMs = Date.parse(scalarText(success.expires_at))
  const lifetimeS = lifetimeUntil(untilMs, answer.headers, nowMs, DEFAULT_LIFETIME_S)
  return acceptToken(success.token, null, lifetimeS)
}
