/** The inputs of a connection, and the root that it creates. */
import { readUtf8, utf8 } from '../../core/crypto/encoding.ts'
import { buildRequest, readOutcome } from '../../derivation/derivation.ts'
import { type OAuth2Root, readRoot } from '../../derivation/root.ts'
import type { Endpoints } from './discovery.ts'
import { ConnectFault, type ProviderFetch } from './provider_fetch.ts'

/** A client at the provider, with the fields of a root. */
export type ConnectClient = {
  client_id: string
  client_secret?: string
  client_auth?: string
}

export type ConnectPlan = {
  /** The secret that is to hold the root. */
  name: string
  endpoints: Endpoints
  client: ConnectClient
  /** In the form of the provider. */
  scope?: string | undefined
  /** Added to the authorization request. */
  authorizeParameters?: Readonly<Record<string, string>> | undefined
  /** Kept in the root for every renewal. */
  rootFields?: Readonly<Record<string, unknown>>
}

/** An error code of RFC 6749 or RFC 8628 from a token endpoint. */
export class TokenRefusal extends ConnectFault {
  readonly error: string

  constructor(error: string) {
    const fix = HINTS[error] ?? 'Check the client and the endpoints, then retry.'
    super('token_refused', `The provider refused to issue a token (${error}).`, fix)
    this.error = error
  }
}

const HINTS: Readonly<Record<string, string>> = {
  invalid_client: 'Check client ID, client secret and --client-auth.',
  invalid_grant: 'The code expired or was used. Run the command again.',
  invalid_scope: 'Choose scopes that the client may request, with --scope.',
  unauthorized_client: 'Allow this flow in the settings of the client at the provider.',
  unsupported_grant_type: 'Allow this flow in the settings of the client at the provider.',
  access_denied: 'Approve the request, or ask an administrator of the provider.',
  expired_token: 'Run the command again and enter the code sooner.',
}

/**
 * Sends one token request with the client's authentication.
 *
 * @param parameters of the grant, with `grant_type`
 * @returns the root's JSON
 * @throws TokenRefusal for an OAuth error; ConnectFault for every other failure
 */
export async function requestRoot(
  plan: ConnectPlan,
  parameters: Readonly<Record<string, string>>,
  send: ProviderFetch,
): Promise<string> {
  const { name, scope } = plan
  const root = planRoot(plan)
  const grant = { ...root, scope: null, parameters: { ...root.parameters, ...parameters } }
  const request = await buildRequest(grant, null, Date.now())
  const { url, headers, body } = request
  const response = await send(url, { method: 'POST', headers, body: new Uint8Array(body) })
  const answer = {
    status: response.status,
    headers: response.headers,
    body: new Uint8Array(await response.arrayBuffer()),
  }
  // A root that has a refresh token keeps the one in the answer.
  const outcome = readOutcome({ ...root, refreshToken: '' }, answer, request, Date.now())
  if (outcome.kind === 'final') throw new TokenRefusal(outcome.code)
  if (outcome.kind === 'retry') {
    const { host } = new URL(url)
    if (PENDING.includes(outcome.code)) throw new TokenRefusal(outcome.code)
    throw new ConnectFault(
      'answer_refused',
      `${host} returned ${answer.status} without a token.`,
      'Retry later.',
    )
  }
  if (outcome.refreshToken === null) throw withoutRefreshToken(plan)
  const granted = scope === undefined ? undefined : grantedOf(scope, readUtf8(answer.body))
  const text = textOfRoot(plan, { scope: granted, refresh_token: outcome.refreshToken })
  readRoot('oauth2', utf8(text), name)
  return text
}

/** RFC 8628, section 3.5. */
const PENDING = ['authorization_pending', 'slow_down']

function withoutRefreshToken({ scope }: ConnectPlan): ConnectFault {
  const asked = scope === undefined ? 'no scope' : `the scope "${scope}"`
  return new ConnectFault(
    'refresh_token_missing',
    `The provider issued no refresh token for ${asked}, so the access would end soon.`,
    'Request lasting access, for example with --scope offline_access, or allow it for the client.',
  )
}

/** The root without a refresh token: whose client authenticates. */
export function planRoot(plan: ConnectPlan): OAuth2Root {
  return readRoot('oauth2', utf8(textOfRoot(plan, {})), plan.name) as OAuth2Root
}

/** The JSON of 13.1, with what this connection knows. */
function textOfRoot(plan: ConnectPlan, more: Readonly<Record<string, unknown>>): string {
  const { endpoints, client, rootFields } = plan
  const fields = {
    token_url: endpoints.server.token_endpoint,
    ...client,
    resource: endpoints.resource,
    ...rootFields,
    ...more,
  }
  return JSON.stringify(fields)
}

/** A renewal must not ask for more than was granted (RFC 6749, section 6). */
function grantedOf(scope: string, answer: string): string {
  const granted = (JSON.parse(answer) as { scope?: unknown }).scope
  if (typeof granted !== 'string' || granted === '') return scope
  const separator = scope.includes(',') ? ',' : ' '
  const words = new Set(granted.split(/[ ,]/))
  const kept = scope.split(separator).filter((word) => words.has(word) || LASTING.includes(word))
  return kept.length > 0 ? kept.join(separator) : scope
}

/** Scopes that ask for a refresh token, which answers often leave out. */
const LASTING = ['offline_access', 'refresh_token']
