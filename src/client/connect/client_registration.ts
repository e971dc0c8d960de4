/** The client with which a connection is made: given, a metadata document, or registered on the spot. */
import type { AuthorizationServer } from 'oauth4webapi'
import type { ConnectClient } from './plan.ts'
import { ConnectFault, type ProviderFetch } from './provider_fetch.ts'

const METHODS = { client_secret_basic: 'basic', client_secret_post: 'post', none: 'none' } as const
type Method = keyof typeof METHODS

/** The default authentication of a client with a secret: a method in the metadata, otherwise Basic. */
export function chooseClientAuth({
  token_endpoint_auth_methods_supported: listed,
}: AuthorizationServer): 'basic' | 'post' {
  const isPostOnly = listed?.includes('client_secret_post') === true
  return isPostOnly && !listed?.includes('client_secret_basic') ? 'post' : 'basic'
}

/** Whether a public URL can be the client's ID (OAuth client ID metadata documents). */
export function acceptsMetadataUrl(server: AuthorizationServer): boolean {
  return server.client_id_metadata_document_supported === true
}

/**
 * Registers a client by RFC 7591, public if the server allows that.
 *
 * @throws ConnectFault if the server does not support registration, or refuses
 */
export async function registerClient(
  server: AuthorizationServer,
  { redirectUri, scope }: { redirectUri: string; scope?: string | undefined },
  send: ProviderFetch,
): Promise<ConnectClient> {
  const { host } = new URL(server.issuer)
  if (server.registration_endpoint === undefined) {
    const message = `${host} does not support client registration.`
    throw new ConnectFault(
      'registration_missing',
      message,
      'Register a client there and pass --client-id.',
    )
  }
  const oauth = await import('oauth4webapi')
  const listed = server.token_endpoint_auth_methods_supported
  const method = (['none', 'client_secret_basic', 'client_secret_post'] as const).find(
    (name) => listed === undefined || listed.includes(name),
  )
  const metadata = {
    client_name: 'Cloakroom',
    application_type: 'native',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method ?? 'none',
    ...(scope !== undefined && { scope }),
  }
  try {
    const response = await oauth.dynamicClientRegistrationRequest(server, metadata, {
      [oauth.customFetch]: send,
    })
    return clientFrom(await oauth.processDynamicClientRegistrationResponse(response))
  } catch (error) {
    if (error instanceof ConnectFault) throw error
    const message = `${host} refused to register a client.`
    throw new ConnectFault(
      'registration_refused',
      message,
      'Register a client there and pass --client-id.',
      error,
    )
  }
}

function clientFrom(registered: {
  client_id: string
  client_secret?: unknown
  token_endpoint_auth_method?: unknown
}): ConnectClient {
  const { client_id, client_secret, token_endpoint_auth_method: method } = registered
  const known = Object.hasOwn(METHODS, String(method)) ? METHODS[method as Method] : undefined
  if (typeof client_secret !== 'string' || client_secret === '' || known === 'none') {
    return { client_id, client_auth: 'none' }
  }
  return { client_id, client_secret, client_auth: known ?? 'basic' }
}
