/** A remote MCP server, made of the official SDK, over TLS on loopback: streamable HTTP at /mcp, HTTP with SSE at /sse. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Stage } from './agent.ts'

export const MCP_HOST = 'mcp.upstream.example'

export type McpUpstream = {
  /** The origin of its URLs. */
  origin: string
  authority: string
  /** Method, path and session of every request. */
  received: { method: string; path: string; session: string | undefined }[]
  /** Forgets every session of the streamable transport. */
  forgetSessions(): void
  stop(): Promise<void>
}

/** Requests need `Authorization: Bearer <credential>`; any other is a 401 that announces OAuth metadata. */
export async function startMcpUpstream(
  stage: Pick<Stage, 'authority' | 'names'>,
  credential: string,
): Promise<McpUpstream> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const streams = new Map<string, SSEServerTransport>()
  const received: McpUpstream['received'] = []

  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await toolServer().connect(transport)
    return transport
  }

  const answerStreamable = async (request: IncomingMessage, response: ServerResponse) => {
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (id !== undefined && !known) return notFound(response)
    await (known ?? (await open())).handleRequest(request, response)
  }

  const answerSse = async (request: IncomingMessage, response: ServerResponse, url: URL) => {
    if (request.method === 'GET') {
      const base = url.searchParams.has('absolute') ? `${upstream.origin}/messages` : '/messages'
      const transport = new SSEServerTransport('/messages', response)
      if (url.searchParams.has('absolute')) makeAbsolute(response, base)
      streams.set(transport.sessionId, transport)
      return await toolServer().connect(transport)
    }
    const stream = streams.get(url.searchParams.get('sessionId') ?? '')
    return stream ? await stream.handlePostMessage(request, response) : notFound(response)
  }

  const server = createServer(await stage.authority.issue([MCP_HOST]), (request, response) => {
    const url = new URL(request.url ?? '/', upstream.origin)
    const { method = '', headers } = request
    const session = headers['mcp-session-id']?.toString()
    received.push({ method, path: url.pathname, session })
    if (headers.authorization !== `Bearer ${credential}`) return challenge(response)
    const answer =
      url.pathname === '/mcp'
        ? answerStreamable(request, response)
        : answerSse(request, response, url)
    answer.catch((error) => response.destroy(error))
  })
  const upstream: McpUpstream = {
    origin: '',
    authority: '',
    received,
    forgetSessions: () => sessions.clear(),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const challenge = (response: ServerResponse) => {
    const metadata = `${upstream.origin}/.well-known/oauth-protected-resource/mcp`
    response
      .writeHead(401, {
        'www-authenticate': `Bearer error="invalid_token", resource_metadata="${metadata}", scope="all"`,
      })
      .end('expired')
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  upstream.authority = `${MCP_HOST}:${(server.address() as AddressInfo).port}`
  upstream.origin = `https://${upstream.authority}`
  stage.names.set(MCP_HOST, ['127.0.0.1'])
  return upstream
}

/** One tool, `shout`, whose call sends a notification first. */
function toolServer(): Server {
  const server = new Server(
    { name: 'remote', version: '1' },
    { capabilities: { tools: { listChanged: true } } },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: 'shout', inputSchema: { type: 'object' } }],
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    // Over the stream that a GET opened, not that of this call.
    await server.sendToolListChanged()
    return { content: [{ type: 'text', text: String(params.arguments?.text).toUpperCase() }] }
  })
  return server
}

/** The SDK's server names a path only; others name a URL. */
function makeAbsolute(response: ServerResponse, url: string): void {
  const write = response.write.bind(response)
  response.write = ((text: string, ...rest: []) =>
    write(text.replace('data: /messages', `data: ${url}`), ...rest)) as typeof response.write
}

function notFound(response: ServerResponse): void {
  response.writeHead(404, { 'content-type': 'application/json' })
  response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}')
}
