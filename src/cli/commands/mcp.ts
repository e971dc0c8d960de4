/**
 * `cloakroom mcp`: tools for an AI agent over the Model Context Protocol (stdio). No tool returns a
 * value: an agent learns names, makes calls through the resolver, and sees what the audit says of it.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'
import { version } from '../../../package.json'
import { ApiError, openApi } from '../../client/api.ts'
import { fetchEnvironment } from '../../client/delivery.ts'
import { listAuditLogs } from '../../features/audit/contract.ts'
import { getResolverHealth } from '../../features/health/contract.ts'
import { parseToken } from '../../platform/crypto/token.ts'
import { outboundMethods, resolveCall } from '../../resolver/contract.ts'
import type { Context } from '../context.ts'
import type { Action } from '../program.ts'
import { explain } from '../terminal/explain.ts'
import { tokenOf } from './call.ts'

export const mcp: Action = async (context, _, options) => {
  const token = tokenOf(context, options)
  const server = new McpServer({ name: 'cloakroom', version })
  addTools(server, context, token)
  await server.connect(new StdioServerTransport())
  const closed = Promise.withResolvers<void>()
  server.server.onclose = closed.resolve
  process.stdin.on('end', closed.resolve)
  await closed.promise
  return 0
}

function addTools(server: McpServer, context: Context, token: string): void {
  server.registerTool(
    'list_credentials',
    {
      description:
        'List the names of the credentials that you may use, as placeholders such as SVC_SECRET_STRIPE_KEY, with the policy of each. Values are never shown.',
      inputSchema: {},
    },
    () => answer(() => listCredentials(context, token)),
  )
  server.registerTool(
    'call_api',
    {
      description:
        'Send an HTTPS request. Write SVC_SECRET_<NAME> in a header where a credential belongs; the resolver puts the value in. Only allowed domains can be reached.',
      inputSchema: {
        url: z.string().describe('absolute https URL'),
        method: z.enum(outboundMethods).default('GET'),
        headers: z.record(z.string(), z.string()).default({}),
        body: z.string().optional(),
      },
    },
    ({ url, method, headers, body }) =>
      answer(() =>
        callApi(context, token, {
          target_url: url,
          method,
          headers,
          ...(body === undefined ? {} : { body }),
        }),
      ),
  )
  server.registerTool(
    'check_status',
    { description: 'Tell whether the resolver works and your token is accepted.', inputSchema: {} },
    () => answer(() => checkStatus(context, token)),
  )
  server.registerTool(
    'read_audit',
    {
      description:
        'Show what was recorded of your requests: allowed, blocked and failed, newest first.',
      inputSchema: { limit: z.number().int().min(1).max(100).default(20) },
    },
    ({ limit }) => answer(() => readAudit(context, token, limit)),
  )
}

type ToolAnswer = { content: { type: 'text'; text: string }[]; isError?: boolean }

async function answer(act: () => Promise<unknown>): Promise<ToolAnswer> {
  try {
    return { content: [{ type: 'text', text: JSON.stringify(await act(), null, 2) }] }
  } catch (error) {
    return { content: [{ type: 'text', text: explain(error).lines.join('\n') }], isError: true }
  }
}

/** By sealed delivery, of which only names and policies are looked at. */
async function listCredentials(context: Context, token: string) {
  const { environment, sealed } = await fetchEnvironment(
    context.setting('server'),
    token,
    scopeOf(context),
  )
  const credentials = Object.entries(sealed).map(([name, { policy }]) => ({
    placeholder: `SVC_SECRET_${name}`,
    policy: policy ?? null,
  }))
  return { environment, credentials }
}

function scopeOf({ settings }: Context): { environment?: string } {
  const { environment } = settings
  return environment && environment.origin !== 'default' ? { environment: environment.value } : {}
}

async function callApi(context: Context, token: string, body: object): Promise<unknown> {
  const response = await fetch(`${context.setting('resolver')}${resolveCall.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...scopeOf(context) }),
  })
  const answered = await response.json()
  if (!response.ok) throw new ApiError(response.status, answered as object)
  return answered
}

async function checkStatus(context: Context, token: string) {
  const health = await openApi(context.setting('resolver')).call(getResolverHealth, {})
  try {
    const { credentials } = await listCredentials(context, token)
    return { resolver: health.status, token: 'accepted', credentials: credentials.length }
  } catch (error) {
    return { resolver: health.status, token: explain(error).lines.join(' ') }
  }
}

/** The audit is for members to read: this works where one is logged in on the machine. */
async function readAudit(context: Context, token: string, limit: number) {
  const session = await context.session()
  const workspace = await session.workspace(context.settings.workspace?.value)
  const query = { workspace_id: workspace.id, agent_id: parseToken(token)?.id ?? '', limit }
  return session.api.call(listAuditLogs, { query })
}
