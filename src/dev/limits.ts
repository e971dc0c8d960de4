/**
 * The limits in docs/reference/limits.md. Each number is read from the source file that enforces it: `file#CONSTANT`, or
 * `file#` and a pattern with the number in a group.
 */

export type Unit =
  | 'bytes'
  | 'milliseconds'
  | 'seconds'
  | 'minutes'
  | 'hours'
  | 'days'
  | 'characters'
type Limit = readonly [what: string, place: string, unit?: Unit | null, after?: string]

export const limits: Readonly<Record<string, readonly Limit[]>> = {
  Secrets: [
    ['secret name', 'core/names/secret_name.ts#of at most (128) characters', 'characters'],
    ['value, sealed (33 bytes overhead)', 'features/secrets/shapes.ts#MAX_SEALED_BYTES', 'bytes'],
    ['secrets per write', 'features/secrets/shapes.ts#MAX_ENTRIES'],
    ['value with resolved references', 'core/policy/references.ts#MAX_BYTES', 'bytes'],
    ['nested references', 'core/policy/references.ts#MAX_DEPTH', null, 'levels'],
    ['entries per policy list', 'core/policy/policy.ts#MAX_ENTRIES'],
    [
      'restore of deleted secrets and projects',
      "database/restorable.ts#interval '(7) days'",
      'days',
    ],
  ],
  Names: [
    ['environment', 'core/validation/validate.ts#must be at most (32) lower-case', 'characters'],
    ['project', 'core/validation/validate.ts#must be 2 to (63) lower-case', 'characters'],
    ['workspace, agent', 'cli/arguments.ts#MAX_TITLE', 'characters'],
    ['email address', 'core/validation/validate.ts#MAX_EMAIL', 'characters'],
  ],
  'Accounts and tokens': [
    [
      'session lifetime since last use',
      'features/accounts/session_tokens.ts#SESSION_SECONDS',
      'seconds',
    ],
    [
      'wrong passwords before a wait',
      'database/limits/backoff.ts#FREE_FAILURES',
      null,
      'per account and network',
    ],
    [
      'longest wait after wrong passwords',
      'database/limits/backoff.ts#MAX_WAIT_SECONDS',
      'seconds',
    ],
    ['password', 'features/accounts/shapes.ts#MAX_PASSWORD', 'characters'],
    ['default token lifetime', 'features/agents/shapes.ts#LIFETIME_DAYS', 'days'],
    ['longest token lifetime', 'features/agents/shapes.ts#MAX_LIFETIME_DAYS', 'days', 'or never'],
    ['hosts or secrets of a narrowed token', 'features/agents/narrowing.ts#MAX_NARROWED'],
    ['invitations per request', 'features/workspaces/shapes.ts#MAX_INVITES'],
  ],
  Calls: [
    ['request or response body', 'outbound/call.ts#BODY_LIMIT', 'bytes', 'except streams'],
    ['headers', 'outbound/headers.ts#MAX_HEADER_BYTES', 'bytes'],
    ['URL', 'outbound/target.ts#MAX_URL_BYTES', 'bytes'],
    ['different secrets per call', 'outbound/injection/budget.ts#MAX_NAMES'],
    ['placeholders per call', 'outbound/injection/budget.ts#MAX_PLACEHOLDERS'],
    ['longest timeout', 'core/policy/policy.ts#MAX_CALL_MS', 'milliseconds'],
    ['wait for a free slot', 'resolver/bulkhead.ts#TIMEOUT_MS', 'milliseconds'],
    ['WebSocket message', 'http/websocket.ts#MAX_MESSAGE_BYTES', 'bytes'],
    ['gRPC message with secrets', 'outbound/grpc/frames.ts#MAX_GRPC_MESSAGE_BYTES', 'bytes'],
    ['MCP tool result', 'cli/mcp/tools.ts#RESULT_BYTES', 'bytes'],
  ],
  'Approvals and proposals': [
    ['pending requests per agent', 'approvals/request_store.ts#MAX_PENDING'],
    ['requests per agent and hour', 'approvals/request_store.ts#MAX_AN_HOUR'],
    ['pending requests per workspace', 'approvals/request_store.ts#MAX_PENDING_IN_WORKSPACE'],
    [
      'lifetime of a pending request',
      "approvals/request_store.ts#interval '(15) minutes'",
      'minutes',
    ],
    ['wait of a call for approval', 'resolver/contract.ts#MAX_APPROVAL_WAIT_MS', 'milliseconds'],
    ['longest approval', 'core/policy/policy.ts#MAX_APPROVAL_SECONDS', 'seconds'],
    ['longest mute', 'features/approvals/contract.ts#MAX_MUTE', 'seconds'],
    ['shown request body', 'core/crypto/approval/details.ts#MAX_SHOWN_BODY_BYTES', 'bytes'],
    ['reason', 'core/crypto/approval/details.ts#MAX_REASON', 'characters'],
    ['open proposals per agent', 'features/proposals/queries.ts#MAX_OPEN'],
    ['open proposals per workspace', 'features/proposals/queries.ts#MAX_OPEN_IN_WORKSPACE'],
    ['hosts or secrets per proposal', 'features/proposals/contract.ts#MAX_PROPOSED'],
    ['lifetime of a proposal', "features/proposals/queries.ts#interval '(7) days'", 'days'],
  ],
  'API, audit and notices': [
    [
      'request body',
      'http/request_body.ts#DEFAULT_BODY_LIMIT',
      'bytes',
      'unless [the API](api.md) states more',
    ],
    ['JSON nesting', 'http/json/containers.ts#MAX_JSON_DEPTH', null, 'levels'],
    [
      'items per page',
      String.raw`core/validation/validate.ts#wholeNumber\(1, (500)\)\.default\(100\)`,
    ],
    ['live audit views per person', 'features/audit/live.ts#MAX_OF_PERSON', null, 'per process'],
    ['history of notices', 'notices/upkeep.ts#KEPT_DAYS', 'days'],
    ['retries of a notice', 'notices/queue.ts#GIVE_UP_HOURS = (24)', 'hours'],
    [
      'clock difference with a warning',
      String.raw`client/http/clock_difference.ts#(5) \* MINUTE_MS`,
      'minutes',
    ],
    [
      'clock difference with a refusal',
      String.raw`client/http/clock_difference.ts#(60) \* MINUTE_MS`,
      'minutes',
    ],
  ],
  'Command line': [
    ['`unlock --for`', String.raw`cli/commands/machine/unlock.ts#most: '(\d+)d'`, 'days'],
    [
      '`run --fallback-max-age`',
      String.raw`cli/commands/use/run.ts#fallback-max-age.*most: '(\d+)d'`,
      'days',
    ],
    ['`connect --wait`', String.raw`cli/connecting/run_flow.ts#most: '(\d+)h'`, 'hours'],
    ['`inject` template', 'cli/commands/use/inject.ts#MAX_TEMPLATE', 'bytes'],
    ['`inject` output', 'cli/templates/fill.ts#MAX_FILLED', 'bytes'],
  ],
}
