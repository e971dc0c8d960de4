/** `oidc-provider` in the fake provider's configuration: the behaviour of an honest server, without a person. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type Provider from 'oidc-provider'
import type { ResourceServer } from 'oidc-provider'
import { createMemory } from './memory.ts'
import type { ProviderFaults } from './provider.ts'

const SCOPES = ['openid', 'offline_access', 'api']
const SCOPE = SCOPES.join(' ')
const ACCOUNT = 'ada'

export const OTHER_CLIENTS = { post: 'post-client', none: 'public-client' }

const nativeClient = {
  application_type: 'native' as const,
  redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback'],
  grant_types: [
    'authorization_code',
    'refresh_token',
    'client_credentials',
    'urn:ietf:params:oauth:grant-type:device_code',
  ],
}

export async function createProvider(
  url: string,
  client: { id: string; secret: string },
  readFaults: () => ProviderFaults,
): Promise<Provider> {
  const Provider = await loadProvider()
  const ttl = () => readFaults().expiresIn ?? 3600
  const resourceServer = (resource: string): ResourceServer => ({
    scope: SCOPE,
    audience: resource,
    accessTokenFormat: 'opaque',
    accessTokenTTL: ttl(),
  })
  const provider = new Provider(url, {
    adapter: createMemory(() => readFaults().rotation === 'grace'),
    clients: [
      { ...nativeClient, client_secret: client.secret, client_id: client.id },
      {
        ...nativeClient,
        client_secret: client.secret,
        client_id: OTHER_CLIENTS.post,
        token_endpoint_auth_method: 'client_secret_post',
      },
      { ...nativeClient, client_id: OTHER_CLIENTS.none, token_endpoint_auth_method: 'none' },
    ],
    clientDefaults: { grant_types: ['authorization_code', 'refresh_token'] },
    cookies: { keys: ['a key of the tests'] },
    jwks: { keys: [await createSigningKey()] },
    scopes: SCOPES,
    ttl: {
      AccessToken: ttl,
      ClientCredentials: ttl,
      AuthorizationCode: 60,
      DeviceCode: 600,
      Grant: 86_400,
      IdToken: 3600,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
    rotateRefreshToken: () => (readFaults().rotation ?? 'strict') !== 'off',
    issueRefreshToken: async (_, asking) => asking.grantTypeAllowed('refresh_token'),
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    loadExistingGrant: async (ctx) => {
      const { client: asking, session, params } = ctx.oidc
      const grantId = await saveGrant(
        provider,
        asking?.clientId ?? '',
        session?.accountId,
        params?.resource,
      )
      return provider.Grant.find(grantId)
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => [],
        getResourceServerInfo: (_, resource) => resourceServer(resource),
        useGrantedResource: () => true,
      },
    },
  })
  provider.proxy = true
  const { redirectUriAllowed } = provider.Client.prototype
  provider.Client.prototype.redirectUriAllowed = function (uri) {
    if (readFaults().acceptsAnyPath && new URL(uri).hostname === '127.0.0.1') return true
    return redirectUriAllowed.call(this, uri)
  }
  return provider
}

/** The library warns on the console that Bun is not Node.js. */
async function loadProvider(): Promise<typeof Provider> {
  const { warn } = console
  console.warn = () => {}
  try {
    return (await import('oidc-provider')).default
  } finally {
    console.warn = warn
  }
}

async function createSigningKey() {
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  }
  const { privateKey } = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const key = await crypto.subtle.exportKey('jwk', privateKey)
  return { ...key, kty: 'RSA' as const, alg: 'RS256', use: 'sig' }
}

/** Logs the person in, or denies, and leaves everything else to the library. */
export async function serveInteraction(
  provider: Provider,
  denies: boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!request.url?.startsWith('/interaction/')) return provider.callback()(request, response)
  const denial = { error: 'access_denied', error_description: 'The person said no' }
  const { prompt, params } = await provider.interactionDetails(request, response)
  const result = denies
    ? denial
    : prompt.name === 'login'
      ? { login: { accountId: ACCOUNT } }
      : {
          consent: {
            grantId: await saveGrant(provider, String(params.client_id), ACCOUNT, params.resource),
          },
        }
  await provider.interactionFinished(request, response, result)
}

async function saveGrant(
  provider: Provider,
  clientId: string,
  accountId = ACCOUNT,
  resource?: unknown,
): Promise<string> {
  const grant = new provider.Grant({ clientId, accountId })
  grant.addOIDCScope(SCOPE)
  for (const one of [resource ?? []].flat()) grant.addResourceScope(String(one), SCOPE)
  return grant.save()
}

export async function issueRefreshToken(provider: Provider, clientId: string): Promise<string> {
  const client = await provider.Client.find(clientId)
  if (!client) throw new Error('the provider does not know this client')
  const token = new provider.RefreshToken({
    client,
    accountId: ACCOUNT,
    grantId: await saveGrant(provider, clientId),
    scope: 'offline_access api',
    gty: 'authorization_code',
    rotations: 0,
  } as never)
  return token.save()
}

export async function decideDevice(
  provider: Provider,
  userCode: string,
  decision: 'approve' | 'deny',
): Promise<void> {
  const code = await provider.DeviceCode.findByUserCode(userCode.replaceAll(/[^A-Z0-9]/gi, ''))
  if (!code) throw new Error('the provider does not know this user code')
  const approval = {
    accountId: ACCOUNT,
    grantId: await saveGrant(provider, code.clientId ?? ''),
    scope: SCOPE,
    authTime: Math.floor(Date.now() / 1000),
  }
  Object.assign(code, decision === 'approve' ? approval : { error: 'access_denied' })
  await code.save()
}
