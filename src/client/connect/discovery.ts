/** Finds a provider's endpoints: from an MCP server's address, an issuer, or given endpoints. */
import type { AuthorizationServer } from 'oauth4webapi'
import { ConnectFault, type ProviderFetch, requireHttps } from './provider_fetch.ts'

export type Endpoints = {
  /** RFC 8414 metadata, or its replacement. */
  server: AuthorizationServer
  /** Whether `server.issuer` is the provider's: only then is `iss` compared (RFC 9207). */
  hasIssuer: boolean
  /** RFC 8707; the resource of an MCP server. */
  resource?: string
  /** Scopes that the resource requests. */
  scope?: string
}

/**
 * The endpoints of an MCP server's authorization server, by RFC 9728 and RFC 8414.
 *
 * @throws ConnectFault for metadata that belongs to another resource or issuer, or without PKCE S256
 */
export async function discoverResource(
  address: string,
  send: ProviderFetch,
  issuer?: string,
): Promise<Endpoints> {
  const { resource, challengeScope } = await readResource(requireHttps(address), send)
  const [first] = resource.authorization_servers ?? []
  const chosen = issuer ?? first
  if (chosen === undefined || !resource.authorization_servers?.includes(chosen)) {
    const fix = issuer === undefined ? 'Use --provider or --authorize-url.' : 'Omit --issuer.'
    throw new ConnectFault(
      'metadata_differs',
      'The MCP server does not name this authorization server.',
      fix,
    )
  }
  const server = await discoverIssuer(chosen, send)
  if (!server.code_challenge_methods_supported?.includes('S256')) {
    const message = `${chosen} does not announce PKCE with S256, which MCP requires.`
    throw new ConnectFault('pkce_missing', message, 'Ask the provider to support PKCE.')
  }
  const scope = challengeScope ?? resource.scopes_supported?.join(' ')
  return {
    server,
    hasIssuer: true,
    resource: resource.resource,
    ...(scope !== undefined && { scope }),
  }
}

async function readResource(address: URL, send: ProviderFetch) {
  const oauth = await import('oauth4webapi')
  const challenge = (await send(address.href)).headers.get('www-authenticate') ?? ''
  const parameterOf = (name: string) =>
    new RegExp(`\\b${name}="([^"\\\\]{1,2048})"`).exec(challenge)?.[1]
  const named = parameterOf('resource_metadata')
  const challengeScope = parameterOf('scope')
  const origin = new URL(address.origin)
  const candidates: [metadata: string, resource: URL][] = named
    ? [[named, address]]
    : [
        [wellKnown(address, 'oauth-protected-resource'), address],
        [wellKnown(origin, 'oauth-protected-resource'), origin],
      ]
  for (const [metadata, expected] of candidates) {
    const response = await send(requireHttps(metadata).href)
    if (response.status !== 200) continue
    try {
      const resource = await oauth.processResourceDiscoveryResponse(expected, response)
      return { resource, challengeScope }
    } catch (error) {
      const message = `The metadata at ${metadata} is not for the resource ${expected.href}.`
      throw new ConnectFault('metadata_differs', message, 'Check --url with the provider.', error)
    }
  }
  const message = `${address.host} has no OAuth metadata (RFC 9728).`
  throw new ConnectFault(
    'metadata_missing',
    message,
    'Check --url, or use --authorize-url and --token-url.',
  )
}

function wellKnown({ origin, pathname }: URL, name: string): string {
  return `${origin}/.well-known/${name}${pathname === '/' ? '' : pathname}`
}

/** RFC 8414, else OpenID metadata. @throws ConnectFault unless the metadata has this issuer */
export async function discoverIssuer(
  issuer: string,
  send: ProviderFetch,
): Promise<AuthorizationServer> {
  const oauth = await import('oauth4webapi')
  const url = requireHttps(issuer)
  for (const algorithm of ['oauth2', 'oidc'] as const) {
    const response = await oauth.discoveryRequest(url, { algorithm, [oauth.customFetch]: send })
    if (response.status !== 200) continue
    try {
      return withHttps(await oauth.processDiscoveryResponse(url, response))
    } catch (error) {
      if (error instanceof ConnectFault) throw error
      const message = `The metadata of ${url.host} is not for the issuer ${issuer}.`
      throw new ConnectFault(
        'metadata_differs',
        message,
        'Check the issuer with the provider.',
        error,
      )
    }
  }
  const message = `${url.host} has no authorization server metadata (RFC 8414).`
  throw new ConnectFault('metadata_missing', message, 'Use --authorize-url and --token-url.')
}

function withHttps(server: AuthorizationServer): AuthorizationServer {
  const { authorization_endpoint, token_endpoint, device_authorization_endpoint } = server
  const { registration_endpoint } = server
  const endpoints = [authorization_endpoint, token_endpoint, device_authorization_endpoint]
  for (const endpoint of [...endpoints, registration_endpoint]) {
    if (endpoint !== undefined) requireHttps(endpoint)
  }
  return server
}

/** Endpoints that a person or a preset gives. @throws ConnectFault unless they are https */
export function endpointsFrom(given: {
  authorizeUrl?: string | undefined
  tokenUrl: string
  deviceUrl?: string | undefined
  issuer?: string | undefined
}): Endpoints {
  const server = withHttps({
    issuer: given.issuer ?? new URL(requireHttps(given.tokenUrl)).origin,
    token_endpoint: given.tokenUrl,
    ...(given.authorizeUrl !== undefined && { authorization_endpoint: given.authorizeUrl }),
    ...(given.deviceUrl !== undefined && { device_authorization_endpoint: given.deviceUrl }),
  })
  return { server, hasIssuer: given.issuer !== undefined }
}
