// tier: all
/** Remote MCP servers through forward mode, under the official client. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  type OAuthClientProvider,
  UnauthorizedError,
} from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { messageOf } from '../../src/core/fault.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { replaceDiscovery } from '../../src/outbound/answer/challenge.ts'
import { EndpointEvent } from '../../src/outbound/answer/endpoint_event.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { expectFault } from '../support/forward.ts'
import { type McpUpstream, startMcpUpstream } from '../support/mcp_upstream.ts'

const VALUE = marked('lin_oauth_not_real_')

let stage: Stage
let agent: Agent
let upstream: McpUpstream

beforeAll(async () => {
  stage = await openStage()
  upstream = await startMcpUpstream(stage, VALUE)
  const secrets = { LINEAR_MCP: VALUE, STALE_MCP: 'an-expired-credential' }
  agent = await createAgentWithToken(stage, { secrets, domains: [upstream.authority] })
  for (const [name, policy] of Object.entries(policies)) await agent.store(name, VALUE, { policy })
})
afterAll(async () => {
  await upstream.stop()
  await stage.stop()
})

const policies: Record<string, Policy> = {
  READS: { read_only: true },
  LISTS: { allowed_operations: ['rpc:tools/list'] },
  SHOUTS: { read_only: true, allowed_operations: ['rpc:tools/list', 'rpc:tools/call:shout'] },
}

const through = (path: string) =>
  new URL(`${stage.app.resolver}/v1/forward/${upstream.authority}${path}`)
const headersWith = (secret: string) => ({
  'x-service-token': agent.token,
  authorization: `Bearer SVC_SECRET_${secret}`,
})
const requestInit = (secret = 'LINEAR_MCP') => ({ headers: headersWith(secret) })

function newClient() {
  const client = new Client({ name: 'test', version: '1' })
  const changed = Promise.withResolvers<void>()
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve())
  return { client, changed: changed.promise }
}

async function shout(client: Client): Promise<unknown> {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['shout'])
  return (await client.callTool({ name: 'shout', arguments: { text: 'hello' } })).content
}
const HELLO = [{ type: 'text', text: 'HELLO' }]

describe('streamable HTTP', () => {
  const connect = async (secret?: string) => {
    const transport = new StreamableHTTPClientTransport(through('/mcp'), {
      requestInit: requestInit(secret),
    })
    const { client, changed } = newClient()
    await client.connect(transport)
    return { transport, client, changed }
  }

  test('a client lists tools, calls one, and receives notifications over its stream', async () => {
    const { client, changed, transport } = await connect()
    expect(await shout(client)).toEqual(HELLO)
    await changed
    expect(upstream.received.at(-1)).toMatchObject({ session: transport.sessionId })
    await client.close()
  })

  test('a client uses the tools that the policy names', async () => {
    const { client, changed } = await connect('SHOUTS')
    expect(await shout(client)).toEqual(HELLO)
    await changed
    await client.close()
  })

  test.each(['READS', 'LISTS'])('a client lists tools and uses none with %s', async (secret) => {
    const { client } = await connect(secret)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['shout'])
    await expect(shout(client)).rejects.toThrow('policy_blocked')
    await client.close()
  })

  test('a client ends its session with DELETE', async () => {
    const { client, transport } = await connect()
    const session = transport.sessionId
    await transport.terminateSession()
    expect(upstream.received.at(-1)).toEqual({ method: 'DELETE', path: '/mcp', session })
    await client.close()
  })

  test('an unknown session is the 404 of the server, after which a client initialises again', async () => {
    const { client } = await connect()
    upstream.forgetSessions()
    await expect(client.listTools()).rejects.toMatchObject({ code: 404 })
    await client.close()
    const again = await connect()
    expect(await shout(again.client)).toEqual(HELLO)
    await again.client.close()
  })
})

describe('HTTP with SSE', () => {
  test.each(['/sse', '/sse?absolute'])(
    'the endpoint that %s names returns through the resolver',
    async (path) => {
      const transport = new SSEClientTransport(through(path), { requestInit: requestInit() })
      const { client, changed } = newClient()
      await client.connect(transport)
      expect(await shout(client)).toEqual(HELLO)
      await changed
      await client.close()
    },
  )

  const lead = (text: string, size: number) => {
    const event = new EndpointEvent((reference) => `/led${reference}`)
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
    return pieces.map((piece) => event.push(piece)).join('') + event.flush()
  }
  test.each([
    [
      ': ping\n\nevent: endpoint\ndata: /m?s=1\n\ndata: /m\n\n',
      ': ping\n\nevent: endpoint\ndata: /led/m?s=1\n\ndata: /m\n\n',
    ],
    ['event:endpoint\r\ndata:/m\r\n\r\n', 'event:endpoint\r\ndata:/led/m\r\n\r\n'],
    ['\r\n:\r\nevent: endpoint\ndata: /m\n\n', '\r\n:\r\nevent: endpoint\ndata: /led/m\n\n'],
    ['event: endpoint\rdata: /m\r\rdata: x', 'event: endpoint\rdata: /led/m\r\rdata: x'],
    ['event: endpoint\ndata: m?s=1\n\n', 'event: endpoint\ndata: m?s=1\n\n'],
    ['event: endpoints\ndata: /m\n\n', 'event: endpoints\ndata: /m\n\n'],
    ['data: a\n\nevent: endpoint\ndata: /m\n\n', 'data: a\n\nevent: endpoint\ndata: /m\n\n'],
    ['event: endpoint\ndata: /m', 'event: endpoint\ndata: /m'],
    ['event: endpoint\ndata: a b\n\n', 'event: endpoint\ndata: a b\n\n'],
  ])('%j becomes %j, however it is cut', (text, led) => {
    for (const size of [1, 2, 3, 7, 1000]) expect(lead(text, size)).toBe(led)
  })
})

describe('a challenge', () => {
  const FIX = 'cloakroom_fix="cloakroom connect KEY --url https://h.example/a%22b"'
  test.each([
    ['Bearer resource_metadata="https://h.example/m"', `Bearer ${FIX}`],
    ['Bearer Resource_Metadata = https://h.example/m, scope="a"', `Bearer ${FIX}, scope="a"`],
    [
      'Bearer error="x", resource_metadata="a\\"b", Basic realm="r"',
      `Bearer error="x", ${FIX}, Basic realm="r"`,
    ],
    ['Bearer error_description="not resource_metadata=x"', null],
    ['Bearer x_resource_metadata="y"', null],
    ['Basic realm="r"', null],
  ])('%s names a command instead of metadata', (given, replaced) => {
    const headers = { 'www-authenticate': given }
    replaceDiscovery(headers, { secret: 'KEY', url: 'https://h.example/a"b?q=1' })
    expect(headers['www-authenticate']).toBe(replaced ?? given)
  })
})

describe('a 401 of the server', () => {
  const post = (secret?: string) =>
    fetch(through('/mcp'), {
      method: 'POST',
      headers: secret ? headersWith(secret) : { 'x-service-token': agent.token },
    })

  test('a 401 to a credential of Cloakroom announces no OAuth flow, but the command that helps', async () => {
    const answer = await post('STALE_MCP')
    expect([answer.status, await answer.text()]).toEqual([401, 'expired'])
    const fix = `cloakroom connect STALE_MCP --url ${upstream.origin}/mcp`
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer error="invalid_token", cloakroom_fix="${fix}", scope="all"`,
    )
  })

  test('a 401 to a call without a credential of Cloakroom keeps its metadata, which returns through the resolver', async () => {
    const { headers } = await post()
    const metadata = through('/.well-known/oauth-protected-resource/mcp')
    expect(headers.get('www-authenticate')).toContain(`resource_metadata="${metadata}"`)
  })

  test('a 401 starts no OAuth flow in a client, and gives it nothing to store', async () => {
    const stored: unknown[] = []
    const store = (value: unknown) => void stored.push(value)
    const authProvider: OAuthClientProvider = {
      redirectUrl: 'http://127.0.0.1/callback',
      clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'] },
      clientInformation: () => undefined,
      saveClientInformation: store,
      tokens: () => undefined,
      saveTokens: store,
      redirectToAuthorization: store,
      saveCodeVerifier: store,
      codeVerifier: () => '',
    }
    const before = upstream.received.length
    const transport = new StreamableHTTPClientTransport(through('/mcp'), {
      requestInit: requestInit('STALE_MCP'),
      authProvider,
    })
    const { client } = newClient()
    const error = await client.connect(transport).catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(Error)
    expect(error).not.toBeInstanceOf(UnauthorizedError)
    expect(stored).toEqual([])
    // Discovery stayed at the resolver.
    expect(upstream.received.slice(before).map(({ path }) => path)).toEqual(['/mcp'])
  })

  test.each([
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
  ])("%s at the resolver's origin is its own 404", async (path) => {
    for (const place of [path, `${path}${through('/mcp').pathname}`]) {
      const answer = await fetch(`${stage.app.resolver}${place}`, {
        headers: headersWith('LINEAR_MCP'),
      })
      await expectFault(answer, 'not_found', messageOf('not_found'))
    }
  })
})
