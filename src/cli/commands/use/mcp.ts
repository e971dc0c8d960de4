/**
 * `cloakroom mcp`: tools for an AI agent over the Model Context Protocol (stdio). No tool returns a value or asks for one.
 * An agent lists names, makes calls through the resolver, and reads the audit records of its calls.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { z } from 'zod'
import { version } from '../../../../package.json'
import { InvalidToken } from '../../../client/delivery/delivery.ts'
import { openApi } from '../../../client/http/api.ts'
import { endsWithin } from '../../../core/async/timeout.ts'
import { MAX_REASON } from '../../../core/crypto/approval/details.ts'
import { parseToken } from '../../../core/crypto/token.ts'
import { placeholderOf } from '../../../core/names/secret_name.ts'
import { listAuditLogs } from '../../../features/audit/contract.ts'
import { getResolverHealth } from '../../../features/health/contract.ts'
import { MAX_PROPOSED } from '../../../features/proposals/contract.ts'
import { listCredentials, outboundMethods } from '../../../resolver/contract.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import {
  defineTool,
  type ModelAdvice,
  RESULT_BYTES,
  serveTools,
  type Tool,
} from '../../mcp/tools.ts'
import { StdioTransport } from '../../mcp/transport.ts'
import { keptToken, token } from '../../options.ts'
import { propose } from '../../proposals/proposing.ts'
import { callResolver } from '../../resolver_call.ts'
import { tokenFor } from '../../session/saved_tokens.ts'
import { explain, sentences } from '../../terminal/explain.ts'
import { environmentFor } from '../../tokens/given_token.ts'
import { runAtAddress } from '../../wrong_address.ts'

const options = [keptToken, token] as const

/** Milliseconds that a tool waits for an approval: less than most programs wait for a tool. */
const APPROVAL_WAIT_MS = 50_000

export default command({
  usage: 'mcp',
  examples: ['mcp', 'mcp --agent deploy-bot', 'mcp --token svc_agt_…'],
  options,
  action: async (context, _, options) => {
    const token = await tokenFor(context, options)
    const server = new Server({ name: 'cloakroom', version }, { capabilities: { tools: {} } })
    const audit = (await canReadAudit(context, token)) ? [readAuditTool(context, token)] : []
    serveTools(server, [...toolsOf(context, token), ...audit], ADVICE)
    const closed = Promise.withResolvers<void>()
    server.onclose = closed.resolve
    const { stdin, stdout } = context.host.streams
    await server.connect(new StdioTransport(stdin, stdout))
    await closed.promise
    return 0
  },
})

const AUDIT_TIMEOUT_MS = 3000
const ASK = 'Use the tool request_access to ask for it.'
const ADVICE: ModelAdvice = {
  domain_blocked: ASK,
  unknown_secret: ASK,
  approval_required: 'Send the same call again after a member has approved it.',
  rate_limited: 'Wait a moment, then send the same call again.',
}

function toolsOf(context: Context, token: string): Tool[] {
  return [
    defineTool({
      name: 'list_credentials',
      title: 'List credentials',
      description:
        'List the credentials that you can use, as placeholders such as SVC_SECRET_STRIPE_KEY, with purpose and policy. Use it before call_api to find the right placeholder. Never returns values.',
      input: z.strictObject({
        contains: z.string().optional().describe('filter: part of a name, such as STRIPE'),
      }),
      annotations: READS,
      run: async ({ contains = '' }, signal) => {
        const all = await credentialsOf(context, token, signal)
        const part = contains.toUpperCase()
        return { credentials: all.filter(({ placeholder }) => placeholder.includes(part)) }
      },
    }),
    defineTool({
      name: 'call_api',
      title: 'Call an API',
      description: `Send an HTTPS request to an allowed host. Write SVC_SECRET_<NAME> in a header where the API expects a credential; the resolver replaces it with the value. Send JSON as text in body, with the header Content-Type: application/json. Returns status_code, headers and body (base64 if body_encoding is base64). Results over ${RESULT_BYTES / 1000} kB are cut, and the field cut states the size: request fewer fields or a smaller page. If a host or secret is not allowed, use request_access.`,
      input: z.strictObject({
        url: z.string().describe('absolute https URL'),
        method: z.enum(outboundMethods).default('GET'),
        headers: z.record(z.string(), z.string()).default({}),
        body: z.string().optional(),
        reason: z
          .string()
          .max(MAX_REASON)
          .optional()
          .describe('reason for the call, shown to the approver'),
        strict_placeholders: z
          .boolean()
          .default(true)
          .describe(
            'reject placeholders in places where they are not replaced, instead of sending them as text',
          ),
      }),
      // The effect depends on the API.
      annotations: { destructiveHint: true, idempotentHint: false, openWorldHint: true },
      run: ({ url, body, ...rest }, signal) => {
        const request = {
          target_url: url,
          ...rest,
          ...(body === undefined ? {} : { body }),
        }
        const waiting = { signal, waitMs: APPROVAL_WAIT_MS }
        return callResolver(context, token, request, waiting)
      },
    }),
    requestAccessTool(context, token),
    checkStatusTool(context, token),
  ]
}

function checkStatusTool(context: Context, token: string): Tool {
  return defineTool({
    name: 'check_status',
    title: 'Check the resolver',
    description:
      'Check the resolver and your token. Use it when other tools fail. Returns resolver, token (accepted, or the problem) and the number of credentials.',
    input: z.strictObject({}),
    annotations: READS,
    run: (_, signal) => checkStatus(context, token, signal),
  })
}

function requestAccessTool(context: Context, token: string): Tool {
  return defineTool({
    name: 'request_access',
    title: 'Request access',
    description:
      'Ask the workspace members to allow hosts or add missing secrets. Use it after call_api failed because of a host or secret. State the purpose in reason, without values. Nothing changes until a member accepts. Repeat the same call to get the status.',
    input: z.strictObject({
      reason: z.string().max(MAX_REASON).describe('purpose, in one line'),
      hosts: z
        .array(z.string())
        .max(MAX_PROPOSED)
        .default([])
        .describe('hosts, such as api.stripe.com'),
      secrets: z
        .array(z.strictObject({ key: z.string(), description: z.string().optional() }))
        .max(MAX_PROPOSED)
        .default([])
        .describe('names such as STRIPE_KEY, each with its purpose in description'),
    }),
    annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    run: (body, signal) => propose(context, token, body, signal),
  })
}

function readAuditTool(context: Context, token: string): Tool {
  return defineTool({
    name: 'read_audit',
    title: 'Read the audit log',
    description:
      'List the audit records of your calls, newest first. Use it to see why a call was blocked or failed.',
    input: z.strictObject({ limit: z.number().int().min(1).max(100).default(20) }),
    annotations: READS,
    run: async ({ limit }) => ({ records: await readAudit(context, token, limit) }),
  })
}

const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false }

/** The credentials of the selected environment, or of all environments of the token. */
async function credentialsOf(context: Context, token: string, signal: AbortSignal) {
  if (parseToken(token) === null) throw new InvalidToken(token)
  const usable = await runAtResolver(context, (resolver) =>
    openApi(resolver, () => token, { signal }).call(listCredentials, {}),
  )
  const { environment } = await environmentFor(context, token, 'resolver')
  return usable
    .filter((credential) => environment === undefined || credential.environment === environment)
    .map(({ name, ...rest }) => ({ placeholder: placeholderOf(name), ...rest }))
}

async function runAtResolver<T>(
  context: Context,
  work: (resolver: string) => Promise<T>,
): Promise<T> {
  const resolver = await context.resolver()
  return runAtAddress('resolver', resolver, work(resolver))
}

async function checkStatus(context: Context, token: string, signal: AbortSignal) {
  const health = await runAtResolver(context, (resolver) =>
    openApi(resolver, () => null, { signal }).call(getResolverHealth, {}),
  )
  try {
    const { length: credentials } = await credentialsOf(context, token, signal)
    return { resolver: health.status, token: 'accepted', credentials }
  } catch (error) {
    const { hint, ...problem } = explain(error)
    const token = sentences({ ...problem, hint: null }).join(' ')
    return { resolver: health.status, token, ...(hint && { for_people: hint }) }
  }
}

/** Only members can read the audit log, so the tool is offered only if it works. The start waits 3 seconds at most. */
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
