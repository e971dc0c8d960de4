/**
 * An OAuth provider for tests: `oidc-provider` behind a TLS listener on loopback. The listener logs what arrives at
 * the token endpoint and makes the faults that an honest provider does not have.
 *
 * const provider = await startProvider({ authority, host: 'id.example.com' })
 * provider.setFault({ rotation: 'grace', expiresIn: 30 })
 */
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { type Authority, createAuthority } from '../../../src/cli/demo/certificates.ts'
import { marked, noteArrival } from '../canary.ts'
import {
  createProvider,
  decideDevice,
  issueRefreshToken,
  OTHER_CLIENTS,
  serveInteraction,
} from './honest.ts'

export type CannedAnswer = { status: number; headers?: Record<string, string>; body?: string }

export type ProviderFaults = {
  /**
   * `strict`: each refresh returns a new refresh token, and using an old one ends the family (the default).
   * `grace`: the old one stays usable. `off`: the refresh token never changes.
   */
  rotation?: 'strict' | 'grace' | 'off'
  /** Seconds that access tokens live, 3,600 by default; null leaves `expires_in` out. */
  expiresIn?: number | null
  /** The token endpoint answers this instead of asking the provider. */
  answer?: CannedAnswer | null
  /** The provider handles the token request, then the connection closes without an answer. */
  losesAnswer?: boolean
  /** The token request reaches the provider after this promise. */
  holdRequest?: Promise<unknown> | null
  /** The answer of the token endpoint leaves after this promise. */
  holdAnswer?: Promise<unknown> | null
  /** Changes the JSON of successful token answers. */
  editToken?: ((token: Record<string, unknown>) => void) | null
  /** Seconds that the provider's `Date` header is ahead. */
  clockSkewS?: number
  /** Accepts any path of a redirect to loopback, as some providers do. */
  acceptsAnyPath?: boolean
  /** The person denies access. */
  denies?: boolean
  /** Changes the provider's metadata (RFC 8414 and OpenID). */
  editMetadata?: ((metadata: Record<string, unknown>) => void) | null
  /** Changes the metadata of the protected resource (RFC 9728). */
  editResource?: ((metadata: Record<string, unknown>) => void) | null
  /** Changes the parameters of the redirect back to the client. */
  editRedirect?: ((parameters: URLSearchParams) => void) | null
}

/** Answers that real token endpoints and the proxies in front of them give. */
export const cannedAnswers = {
  tooMany: { status: 429, headers: { 'retry-after': '7' }, body: '{"error":"too_many_requests"}' },
  broken: { status: 500, body: '{"error":"server_error"}' },
  html: {
    status: 502,
    headers: { 'content-type': 'text/html' },
    body: '<html><h1>Bad gateway</h1></html>',
  },
  htmlSuccess: { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>OK</html>' },
  plainText: {
    status: 200,
    headers: { 'content-type': 'text/plain' },
    body: '{"access_token":"from-plain-text","token_type":"Bearer"}',
  },
  huge: { status: 200, body: `{"access_token":"abcdefgh","padding":"${'x'.repeat(2 << 20)}"}` },
  invalidGrant: { status: 400, body: '{"error":"invalid_grant"}' },
} satisfies Record<string, CannedAnswer>

export type TokenRequestLog = {
  /** Unix milliseconds. */
  at: number
  headers: Headers
  parameters: URLSearchParams
  /** Null until the answer leaves. */
  status: number | null
}

export type FakeProvider = {
  /** The issuer, without a path. */
  url: string
  /** host:port, in the form of the allowlist. */
  host: string
  port: number
  tokenUrl: string
  clientId: string
  clientSecret: string
  /** Clients with the same secret that authenticate in the other ways. */
  otherClients: { post: string; none: string }
  /** PEM of the authority that signed the provider's certificate. */
  certificate: string
  /** Requests that arrived at the token endpoint, also those that a fault answered. */
  requests: TokenRequestLog[]
  /** Every other requested path. */
  visited: string[]
  /** Adds to the faults; pass the default to end one. */
  setFault(faults: ProviderFaults): void
  clearFaults(): void
  /** A refresh token like after a person's consent. */
  issueRefreshToken(): Promise<string>
  /** Whether an access token is from this provider and neither expired nor revoked. */
  isLive(accessToken: string): Promise<boolean>
  /** Ends every token of a refresh token's family, as a person does in their settings. */
  revokeFamily(refreshToken: string): Promise<void>
  /** A person's decision about a device's user code (RFC 8628). */
  decideDevice(userCode: string, decision: 'approve' | 'deny'): Promise<void>
  stop(): Promise<void>
}

type Options = {
  /** Signs the certificate; created by default. */
  authority?: Authority
  /** The provider's DNS name; `localhost` by default. */
  host?: string
  faults?: ProviderFaults
}

export async function startProvider(options: Options = {}): Promise<FakeProvider> {
  const { authority = await createAuthority('Test provider'), host = 'localhost' } = options
  let faults: ProviderFaults = { ...options.faults }
  // Characters that clients encode in different ways for Basic authentication.
  const client = { id: 'cloakroom tests:1', secret: marked('cs_%+/-_.~') }
  const requests: TokenRequestLog[] = []
  const visited: string[] = []
  const inner = createServer()
  const innerUrl = `http://127.0.0.1:${await listen(inner)}`
  const front = createTlsServer(await authority.issue([...new Set([host, 'localhost'])]))
  const port = await listen(front)
  const url = `https://${host}:${port}`
  const provider = await createProvider(url, client, () => faults)
  inner.on('request', (request, response) => {
    void serveInteraction(provider, faults.denies === true, request, response)
  })
  front.on('request', async (request, response) => {
    const asked = await readAsked(request)
    const answer = await answerFront(asked)
    if (answer === null) return void request.socket.destroy()
    response.writeHead(answer.status, Object.fromEntries(listHeaders(answer.headers)))
    response.end(Buffer.from(await answer.arrayBuffer()))
  })

  async function answerFront(asked: Asked): Promise<Response | null> {
    if (asked.path === '/token') return answerToken(asked)
    visited.push(asked.path)
    if (asked.path === '/mcp') return challenge(url)
    if (asked.path === '/.well-known/oauth-protected-resource/mcp') {
      const metadata = {
        resource: `${url}/mcp`,
        authorization_servers: [url],
        scopes_supported: ['api'],
      }
      return editedJson(metadata, faults.editResource)
    }
    const response = await forward(asked, innerUrl, url)
    if (asked.path.startsWith('/.well-known/') && response.ok) {
      return editedJson(await response.json(), faults.editMetadata)
    }
    return withEditedRedirect(response, url, faults.editRedirect)
  }

  async function answerToken(asked: Asked): Promise<Response | null> {
    noteArrival(asked.body)
    const parameters = new URLSearchParams(asked.body.toString())
    const { headers } = asked
    const entry: TokenRequestLog = { at: Date.now(), headers, parameters, status: null }
    requests.push(entry)
    await faults.holdRequest
    const answer = faults.answer
      ? cannedResponse(faults.answer)
      : await forward(asked, innerUrl, url)
    await faults.holdAnswer
    if (faults.losesAnswer) return null
    entry.status = answer.status
    const edited = answer.ok && !faults.answer ? await editedToken(answer, faults) : answer
    const skewMs = (faults.clockSkewS ?? 0) * 1000
    edited.headers.set('date', new Date(Date.now() + skewMs).toUTCString())
    return edited
  }

  return {
    url,
    host: `${host}:${port}`,
    port,
    tokenUrl: `${url}/token`,
    clientId: client.id,
    clientSecret: client.secret,
    otherClients: OTHER_CLIENTS,
    certificate: authority.certificate,
    requests,
    visited,
    setFault: (more) => {
      faults = { ...faults, ...more }
    },
    clearFaults: () => {
      faults = {}
    },
    issueRefreshToken: () => issueRefreshToken(provider, client.id),
    isLive: async (token) => {
      const found = await provider.AccessToken.find(token)
      return (found ?? (await provider.ClientCredentials.find(token)))?.isValid ?? false
    },
    revokeFamily: async (token) => {
      const { grantId } = (await provider.RefreshToken.find(token)) ?? {}
      if (grantId === undefined) throw new Error('the provider does not know this refresh token')
      await provider.RefreshToken.revokeByGrantId(grantId)
    },
    decideDevice: (userCode, decision) => decideDevice(provider, userCode, decision),
    stop: async () => {
      for (const server of [front, inner]) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    },
  }
}

type Asked = { method: string; path: string; search: string; headers: Headers; body: Buffer }

async function readAsked(request: IncomingMessage): Promise<Asked> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  const { pathname, search } = new URL(request.url ?? '/', 'https://localhost')
  const headers = new Headers(
    Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
  )
  return {
    method: request.method ?? 'GET',
    path: pathname,
    search,
    headers,
    body: Buffer.concat(pieces),
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

function forward(asked: Asked, innerUrl: string, url: string): Promise<Response> {
  const headers = new Headers(asked.headers)
  const { host } = new URL(url)
  for (const name of ['connection', 'content-length']) headers.delete(name)
  headers.set('host', host)
  headers.set('x-forwarded-proto', 'https')
  headers.set('x-forwarded-host', host)
  return fetch(`${innerUrl}${asked.path}${asked.search}`, {
    method: asked.method,
    headers,
    redirect: 'manual',
    ...(asked.method !== 'GET' && { body: new Uint8Array(asked.body) }),
  })
}

/** Several cookies are several headers. */
function listHeaders(headers: Headers): [string, string | string[]][] {
  const dropped = [
    'set-cookie',
    'content-length',
    'transfer-encoding',
    'content-encoding',
    'connection',
  ]
  const kept = [...headers].filter(([name]) => !dropped.includes(name))
  return [...kept, ['set-cookie', headers.getSetCookie()]]
}

function challenge(url: string): Response {
  const metadata = `${url}/.well-known/oauth-protected-resource/mcp`
  const headers = { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }
  return new Response(null, { status: 401, headers })
}

function cannedResponse({ status, headers, body = '' }: CannedAnswer): Response {
  return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } })
}

function editedJson(document: unknown, edit: ProviderFaults['editMetadata']): Response {
  const edited = document as Record<string, unknown>
  edit?.(edited)
  return Response.json(edited)
}

async function editedToken(answer: Response, faults: ProviderFaults): Promise<Response> {
  const token = (await answer.json()) as Record<string, unknown>
  if (faults.expiresIn === null) delete token.expires_in
  faults.editToken?.(token)
  return new Response(JSON.stringify(token), { status: answer.status, headers: answer.headers })
}

/** Only the redirect that leaves the provider is edited. */
function withEditedRedirect(
  response: Response,
  url: string,
  edit: ProviderFaults['editRedirect'],
): Response {
  const location = response.headers.get('location')
  if (!edit || location === null || !URL.canParse(location) || location.startsWith(url))
    return response
  const target = new URL(location)
  edit(target.searchParams)
  const headers = new Headers(response.headers)
  headers.set('location', target.href)
  return new Response(null, { status: response.status, headers })
}
