/**
 * `cloakroom mcp`: tools for an AI agent over the Model Context Protocol (stdio). No tool returns a
 * value, and none asks for one: an agent learns names, makes calls through the resolver, and sees what the
 * audit says of it.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { version } from '../../../package.json'
import { InvalidToken } from '../../client/delivery/delivery.ts'
import { openApi } from '../../client/http/api.ts'
import { listAuditLogs } from '../../features/audit/contract.ts'
import { getResolverHealth } from '../../features/health/contract.ts'
import { endsWithin } from '../../platform/async/timeout.ts'
import { parseToken } from '../../platform/crypto/token.ts'
import { printableJson } from '../../platform/printable.ts'
import { placeholderOf } from '../../platform/secret_name.ts'
import { listCredentials, outboundMethods, resolveCall } from '../../resolver/contract.ts'
import type { mcpOptions } from '../catalogue/options.ts'
import type { Action } from '../command.ts'
import type { Context } from '../context.ts'
import { StdioTransport } from '../mcp_transport.ts'
import { callResolver, namedEnvironment } from '../resolver_call.ts'
import { tokenFor } from '../session/saved_tokens.ts'
import { explain, sentences } from '../terminal/explain.ts'

const AUDIT_TIMEOUT_MS = 3000

export const mcp: Action<typeof mcpOptions> = async (context, _, options) => {
  const token = await tokenFor(context, options)
  const server = new McpServer({ name: 'cloakroom', version })
  addTools(server, context, token)
  if (await canReadAudit(context, token)) addAudit(server, context, token)
  const closed = Promise.withResolvers<void>()
  server.server.onclose = closed.resolve
  const { stdin, stdout } = context.host.streams
  await server.connect(new StdioTransport(stdin, stdout))
  await closed.promise
  return 0
}

function addTools(server: McpServer, context: Context, token: string): void {
  server.registerTool(
    'list_credentials',
    {
      title: 'List credentials',
      description:
        'List the names of the credentials that you may use, as placeholders such as SVC_SECRET_STRIPE_KEY, with what each is for and where it may be used. Values are never shown.',
      inputSchema: nothing,
      outputSchema: z.object({ credentials: z.array(credential) }),
      annotations: READS,
    },
    (_, { signal }) =>
      answer(async () => ({ credentials: await credentialsOf(context, token, signal) })),
  )
  server.registerTool(
    'call_api',
    {
      title: 'Call an API',
      description:
        'Send an HTTPS request. Write SVC_SECRET_<NAME> in a header where a credential belongs; the resolver puts the value in. Only allowed domains can be reached. JSON goes into body as text, with the header Content-Type: application/json.',
      inputSchema: z.strictObject({
        url: z.string().describe('absolute https URL'),
        method: z.enum(outboundMethods).default('GET'),
        headers: z.record(z.string(), z.string()).default({}),
        body: z.string().optional(),
        strict_placeholders: z
          .boolean()
          .default(true)
          .describe('refuse a placeholder where it is not replaced, instead of sending it as text'),
      }),
      // Without its name: a schema of a tool is no reference.
      outputSchema: z.object(resolveCall.result.shape),
      // What it does is up to the API.
      annotations: { destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    ({ url, body, ...rest }, { signal }) => {
      const request = { target_url: url, ...rest, ...(body === undefined ? {} : { body }) }
      return answer(() => callResolver(context, token, request, { signal }))
    },
  )
  server.registerTool(
    'check_status',
    {
      title: 'Check the resolver',
      description: 'Tell whether the resolver works and your token is accepted.',
      inputSchema: nothing,
      outputSchema: z.object({
        resolver: z.string(),
        token: z.string().describe('accepted, or what is wrong with it'),
        credentials: z.number().int().optional(),
      }),
      annotations: READS,
    },
    (_, { signal }) => answer(() => checkStatus(context, token, signal)),
  )
}

function addAudit(server: McpServer, context: Context, token: string): void {
  server.registerTool(
    'read_audit',
    {
      title: 'Read the audit',
      description:
        'Show what was recorded of your requests: allowed, blocked and failed, newest first.',
      inputSchema: z.strictObject({ limit: z.number().int().min(1).max(100).default(20) }),
      outputSchema: z.object({ records: listAuditLogs.result }),
      annotations: READS,
    },
    ({ limit }) => answer(async () => ({ records: await readAudit(context, token, limit) })),
  )
}

const nothing = z.strictObject({})
const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false }
const credential = listCredentials.result.element.omit({ name: true }).extend({
  placeholder: z.string(),
})

type ToolAnswer = {
  content: { type: 'text'; text: string }[]
  structuredContent?: Record<string, unknown>
  isError?: boolean
}

/** As text and as data, the same; a refusal is sentences with its code. */
async function answer(act: () => Promise<Record<string, unknown>>): Promise<ToolAnswer> {
  try {
    const text = printableJson(await act(), 2)
    return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) }
  } catch (error) {
    return {
      // An agent decides by the code, whoever it is of.
      content: [
        { type: 'text', text: sentences({ ...explain(error), isOfServer: true }).join('\n') },
      ],
      isError: true,
    }
  }
}

/** Of the environment that was named, or of all that the token is for. */
async function credentialsOf(context: Context, token: string, signal: AbortSignal) {
  if (parseToken(token) === null) throw new InvalidToken()
  const usable = await openApi(await context.resolver(), () => token, { signal }).call(
    listCredentials,
    {},
  )
  const { environment } = namedEnvironment(context)
  return usable
    .filter((credential) => environment === undefined || credential.environment === environment)
    .map(({ name, ...rest }) => ({ placeholder: placeholderOf(name), ...rest }))
}

async function checkStatus(context: Context, token: string, signal: AbortSignal) {
  const health = await openApi(await context.resolver(), () => null, { signal }).call(
    getResolverHealth,
    {},
  )
  try {
    const { length: credentials } = await credentialsOf(context, token, signal)
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
