/**
 * Options that several commands share. The word in brackets selects the completion of the value
 * (`completion/sources.ts`).
 */

/** Accepted before and after the command's name. */
export const globalOptions = [
  ['--server <url>', 'server address (SERVICE_SERVER_URL)'],
  ['--resolver <url>', 'resolver address (SERVICE_RESOLVER_URL)'],
  ['--account <account>', 'account to use, by name (SERVICE_ACCOUNT)'],
  ['-w, --workspace <workspace>', 'workspace, by name or ID'],
  ['-p, --project <project>', 'project, by name or ID'],
  ['-e, --env <environment>', 'environment of the project, by name'],
  ['--json', 'print JSON, also for errors'],
  ['-q, --quiet', 'print only results: names, IDs, values'],
  ['--insecure-storage', 'store the session unencrypted if there is no keyring'],
  ['--insecure-http', 'allow http:// to other machines (SERVICE_INSECURE_HTTP=1)'],
  ['--ca-file <path>', 'also trust the CA certificates in this PEM file (SERVICE_CA_FILE)'],
  ['--debug', 'print stack traces with errors'],
] as const

export const yes = ['-y, --yes', 'skip the confirmation'] as const
export const allowEmpty = [
  '--allow-empty',
  'continue if this environment has no secrets but others do',
] as const
export const acceptChanged = [
  '--accept-changed-keys',
  'accept public keys that changed since this machine last saw them',
] as const
export const token = [
  '--token <token>',
  'agent or workload token (SERVICE_TOKEN, SERVICE_TOKEN_FILE)',
] as const
export const passwordStdin = ['--password-stdin', 'read the password from standard input'] as const
export const keepToken = ['--keep-token <token...>', 'keep this token, by ID'] as const
export const references = [
  '--references',
  'replace ${NAME} in values with other secrets of the environment; write $${NAME} for literal text',
] as const
export const noMine = ['--no-mine', 'ignore your own values from secrets set --mine'] as const
export const dryRun = [
  '--dry-run',
  'print the names that would change, without changing them',
] as const
export const raw = ['--raw', 'print stored values without resolving references'] as const
export const keptToken = [
  '--agent <agent>',
  'use the token of this agent, saved by agent create --save',
] as const
export const save = ['--save', 'save the token on this machine instead of printing it'] as const
export const force = ['-f, --force', 'replace an existing file with different content'] as const
export const dialect = [
  '--dialect <dialect>',
  '.env syntax: docker, dotenv, bash or compose',
] as const
export const storedEmpty = ['--allow-empty', 'store empty values'] as const
export const storedUnsafe = [
  '--allow-env <secret...>',
  'store this name although it controls shells, loaders or interpreters',
] as const
export const entranceOptions = [
  passwordStdin,
  ['--name <name>', 'name of the account on this machine (default: email@host)'],
] as const
export const sensitivityOptions = [
  ['--sensitive', 'store as secrets'],
  ['--plain', 'store as settings, which are not masked or guarded'],
] as const
export const policyFieldOptions = [
  [
    '--domains <domain...>',
    'allowed hosts, a subset of the allowlist: api.stripe.com,*.example.com:8443',
  ],
  ['--methods <method...>', 'allowed methods: GET,POST'],
  ['--paths <prefix...>', 'allowed path prefixes: /v1 covers /v1/charges but not /v10'],
  ['--headers <header...>', 'headers that may contain the value: Authorization,X-Api-Key'],
  [
    '--locations <location...>',
    'places that may contain the value: header, basic, query, path, json, form, websocket, env, sign (default: header,basic,env)',
  ],
  ['--sign-templates <template...>', "templates that may be signed with it: '{timestamp}.{body}'"],
  [
    '--operations <operation...>',
    'allowed GraphQL and JSON-RPC operations: query:viewer,mutation:createIssue,rpc:tools/call:search',
  ],
  ['--read-only', 'allow only reads: GET, HEAD, OPTIONS, GraphQL queries and MCP reads'],
  [
    '--basic-encoding <encoding>',
    'use form to form-encode the value in Basic, as OAuth token endpoints expect',
  ],
  ['--description <text>', "purpose of the secret, visible to agents: 'test account'"],
  references,
] as const
export const approvalOptions = [
  ['--approval <approver>', 'role that must approve each use: member, admin or none'],
  ['--approval-ttl <time>', 'how long an approval can last, such as 15m (default: 0s, one use)'],
] as const
export const copyingOptions = [
  ['--to-project <project>', 'target project in the same workspace'],
  dryRun,
  ['-f, --force', 'overwrite secrets that have a different value or policy'],
  yes,
] as const
export const tokenOptions = [
  ['--label <text>', 'label of the token'],
  ['--expires-in-days <days>', '1 to 3650, or never (default: 90)'],
  ['--may <capabilities>', 'use, read or use,read (default: use for agents, both for workloads)'],
] as const
export const rangeOptions = [
  ['--since <time>', 'records since this ISO 8601 time or duration: 7d, 12h'],
  ['--until <time>', 'records before this time'],
] as const
export const filterOptions = [
  ['--actor <actor>', 'only this member, agent or token, by e-mail address, name or ID'],
  ['--agent <agent>', 'only this agent, by name or ID'],
  ['--domain <name>', 'only calls to this host, on any port'],
  ['--method <method>', 'only this method'],
  ['--status <code>', 'only this status'],
  ['--action <action>', 'only this action, such as secret.read'],
  ['--credential <secret>', 'only records about this secret'],
  ['--result <result>', 'only calls with this result: allowed, refused or failed'],
  ...rangeOptions,
] as const
export const narrowingOptions = [
  ['--host <domain...>', 'limit the token to these hosts, such as api.anthropic.com'],
  ['--secret <secret...>', 'limit the token to these secrets'],
] as const
export const limitOptions = [
  ['--calls-per-minute <count>', 'maximum calls per minute'],
  ['--calls-per-day <count>', 'maximum calls per day (UTC)'],
  ['--concurrent-calls <count>', 'maximum simultaneous calls'],
  ['--bytes-per-day <size>', 'maximum body bytes per day, such as 100MB'],
  ['--model-tokens-per-day <count>', 'maximum model tokens per day'],
] as const
