/**
 * `cloakroom mcp`: tools for an AI agent over the Model Context Protocol (stdio). No tool returns a
 * value, and none asks for one: an agent learns names, makes calls through the resolver, and sees what the
 * audit says of it.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { version } from '../../../package.json'
import { openApi } from '../../client/api.ts'
import { InvalidToken } from '../../client/delivery.ts'
import { listAuditLogs } from '../../features/audit/contract.ts'
import { getResolverHealth } from '../../features/health/contract.ts'
import { parseToken } from '../../platform/crypto/token.ts'
import { endsWithin } from '../../platform/timeout.ts'
import { listCredentials, outboundMethods } from '../../resolver/contract.ts'
import type { mcpOptions } from '../catalogue/options.ts'
import type { Action } from '../command.ts'
import type { Context } from '../context.ts'
import { StdioTransport } from '../mcp_transport.ts'
import { callResolver, namedEnvironment } from '../resolver_call.ts'
import { tokenFor } from '../session/saved_tokens.ts'
import { explain, sentences } from '../terminal/explain.ts'
import { printableJson } from '../terminal/printable.ts'

const AUDIT_TIMEOUT_MS = 3000

export const mcp: Action<typeof mcpOptions> = async (context, _, options) => {
  const token = await tokenFor(context, options)
  const server = new McpServer({ name: 'cloakroom', version })
  addTools(server, context, token)
  if (await canReadAudit(context, token)) addAudit(server, context, token)
  const closed = Promise.withResolvers<void>()
  server.server.onclose = closed.resolve
  await server.connect(new StdioTransport(process.stdin, process.stdout))
  await closed.promise
  return 0
}

function addTools(server: McpServer, context: Context, token: string): void {
  server.registerTool(
    'list_credentials',
    {
      description:
        'List the names of the credentials that you may use, as placeholders such as SVC_SECRET_STRIPE_KEY, with what each is for and where it may be used. Values are never shown.',
      inputSchema: {},
    },
    () => answer(() => credentialsOf(context, token)),
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
        callResolver(context, token, {
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
}

function addAudit(server: McpServer, context: Context, token: string): void {
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
    return { content: [{ type: 'text', text: printableJson(await act(), 2) }] }
  } catch (error) {
    return {
      content: [{ type: 'text', text: sentences(explain(error)).join('\n') }],
      isError: true,
    }
  }
}

/** Of the environment that was named, or of all that the token is for. */
async function credentialsOf(context: Context, token: string) {
  if (parseToken(token) === null) throw new InvalidToken()
  const usable = await openApi(await context.resolver(), () => token).call(listCredentials, {})
  const { environment } = namedEnvironment(context)
  return usable
    .filter((credential) => environment === undefined || credential.environment === environment)
    .map(({ name, ...rest }) => ({ placeholder: `SVC_SECRET_${name}`, ...rest }))
}

async function checkStatus(context: Context, token: string) {
  const health = await openApi(await context.resolver()).call(getResolverHealth, {})
  try {
    const { length: credentials } = await credentialsOf(context, token)
    return { resolver: health.status, token: 'accepted', credentials }
  } catch (error) {
    return { resolver: health.status, token: sentences(explain(error)).join(' ') }
  }
}

/** The audit is for members to read: a tool that could not work is not offered, and no start waits for it. */
async function canReadAudit(context: Context, token: string): Promise<boolean> {
  const read = readAudit(context, token, 1).then(
    () => true,
    () => false,
  )
  return endsWithin(AUDIT_TIMEOUT_MS, read)
}

async function readAudit(context: Context, token: string, limit: number) {
  const session = await context.session()
  const workspace = await session.workspace(context.settings.workspace?.value)
  const query = { workspace_id: workspace.id, agent_id: parseToken(token)?.id ?? '', limit }
  return session.api.call(listAuditLogs, { query })
}
