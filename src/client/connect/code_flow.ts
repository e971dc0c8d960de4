/** The authorization code flow of a program on a person's machine: RFC 6749, 7636, 8252 and 9207. */
import { type ConnectPlan, requestRoot } from './plan.ts'
import { ConnectFault, type ProviderFetch } from './provider_fetch.ts'

export type CodeFlow = {
  /** For the person's browser. */
  url: string
  /** From the parameters of the redirect to the root's JSON. @throws ConnectFault */
  finish(parameters: URLSearchParams): Promise<string>
}

const CODE = /^[a-z_]{1,64}$/

export async function startCodeFlow(
  plan: ConnectPlan,
  redirectUri: string,
  send: ProviderFetch,
): Promise<CodeFlow> {
  const oauth = await import('oauth4webapi')
  const { endpoints, client, scope, authorizeParameters } = plan
  const { server, resource } = endpoints
  if (server.authorization_endpoint === undefined) {
    throw new ConnectFault(
      'endpoint_missing',
      'The provider has no authorization endpoint.',
      'Use --authorize-url.',
    )
  }
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const url = new URL(server.authorization_endpoint)
  const parameters = {
    // Providers of OpenID Connect ignore the scope without it.
    prompt: server.scopes_supported && asksForOfflineAccess(scope) ? 'consent' : undefined,
    ...authorizeParameters,
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    scope,
    resource,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) url.searchParams.set(name, value)
  }
  const finish = async (received: URLSearchParams) => {
    const code = checkRedirect(oauth, plan, received, state)
    const grant = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }
    return requestRoot(plan, grant, send)
  }
  return { url: url.href, finish }
}

function asksForOfflineAccess(scope: string | undefined): boolean {
  return scope?.split(' ').includes('offline_access') === true
}

/** @returns the code @throws ConnectFault unless state and issuer are those of this flow */
function checkRedirect(
  oauth: typeof import('oauth4webapi'),
  { endpoints: { server, hasIssuer }, client }: ConnectPlan,
  received: URLSearchParams,
  state: string,
): string {
  const parameters = new URLSearchParams(received)
  if (!hasIssuer) parameters.delete('iss')
  try {
    const { client_id } = client
    const checked = oauth.validateAuthResponse(server, { client_id }, parameters, state)
    const code = checked.get('code')
    if (code) return code
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) throw denial(error.error)
    const message = 'The redirect does not belong to this connection: state or issuer differ.'
    throw new ConnectFault(
      'other_flow',
      message,
      'Run the command again, and open only its own link.',
      error,
    )
  }
  throw new ConnectFault('code_missing', 'The provider sent no code.', 'Run the command again.')
}

function denial(error: string): ConnectFault {
  const code = CODE.test(error) ? error : 'unknown error'
  return code === 'access_denied'
    ? new ConnectFault(
        'access_denied',
        'Access was denied in the browser (access_denied).',
        'Retry and approve it.',
      )
    : new ConnectFault(
        'request_refused',
        `The provider refused the request (${code}).`,
        'Check scope and redirect address in the settings of the client, then retry.',
      )
}
