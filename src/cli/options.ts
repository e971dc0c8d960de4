/** Options that several commands share. The word in brackets says what completes the value (`completion/sources.ts`). */

/** Understood before and after the command's name. */
export const globalOptions = [
  ['--server <url>', 'server address (SERVICE_SERVER_URL)'],
  ['--resolver <url>', 'resolver address (SERVICE_RESOLVER_URL)'],
  ['--account <account>', 'account to use, by name (SERVICE_ACCOUNT)'],
  ['-w, --workspace <workspace>', 'workspace, by name or ID'],
  ['-p, --project <project>', 'project, by name or ID'],
  ['-e, --env <environment>', 'environment of the project, by name'],
  ['--json', 'print JSON, also for errors'],
  ['-q, --quiet', 'print only the result: names, IDs, values'],
  ['--insecure-storage', 'store the session unencrypted if there is no keyring'],
  ['--insecure-http', 'allow http:// to other machines (SERVICE_INSECURE_HTTP=1)'],
  ['--ca-file <path>', 'also trust the CA certificates in this PEM file (SERVICE_CA_FILE)'],
  ['--debug', 'print stack traces of errors'],
] as const

export const yes = ['-y, --yes', 'do not ask'] as const
export const allowEmpty = [
  '--allow-empty',
  'go on although only other environments have secrets',
] as const
export const acceptChanged = [
  '--accept-changed-keys',
  'accept public keys that differ from those seen before',
] as const
export const token = [
  '--token <token>',
  'token of an agent or workload (SERVICE_TOKEN, …_FILE)',
] as const
export const passwordStdin = ['--password-stdin', 'read the password from standard input'] as const
export const keepToken = ['--keep-token <token...>', 'a token that is to stay, by id'] as const
export const references = [
  '--references',
  'have ${NAME} in values stand for other secrets of the environment; $${NAME} is text',
] as const
export const noMine = [
  '--no-mine',
  'leave out your own values, which secrets set --mine keeps',
] as const
export const dryRun = ['--dry-run', 'show by name what would change, and change nothing'] as const
export const raw = [
  '--raw',
  'values as they are stored, with references instead of what they stand for',
] as const
export const keptToken = [
  '--agent <agent>',
  'an agent whose token is kept on this machine (agent create --save)',
] as const
export const save = [
  '--save',
  'keep the token on this machine, beside the session, instead of printing it',
] as const
export const force = ['-f, --force', 'replace a file that is there and has other content'] as const
export const dialect = [
  '--dialect <dialect>',
  'the program whose .env files these are: docker, dotenv, bash or compose',
] as const
export const storedEmpty = ['--allow-empty', 'store empty values'] as const
export const storedUnsafe = [
  '--allow-env <secret...>',
  'store this name although it steers shells, loaders or interpreters',
] as const
export const entranceOptions = [
  passwordStdin,
  ['--name <name>', 'what to call the account on this machine (email@host unless given)'],
] as const
export const sensitivityOptions = [
  ['--sensitive', 'store secrets, whatever the values look like'],
  ['--plain', 'store settings, which are neither masked nor guarded'],
] as const
export const policyFieldOptions = [
  [
    '--domains <domain...>',
    'hosts that calls may go to, of those on the allowlist: api.stripe.com,*.example.com:8443',
  ],
  ['--methods <method...>', 'methods that calls may have: GET,POST'],
  ['--paths <prefix...>', 'beginnings of paths: /v1 covers /v1 and /v1/charges, not /v10'],
  ['--headers <header...>', 'headers that the value may stand in: Authorization,X-Api-Key'],
  [
    '--locations <location...>',
    'places that the value may stand in, header,basic,env unless said: header,query',
  ],
  ['--sign-templates <template...>', "what may be signed with it: '{timestamp}.{body}'"],
  [
    '--operations <operation...>',
    'operations of GraphQL and JSON-RPC: query:viewer,mutation:createIssue,rpc:tools/call:search',
  ],
  ['--read-only', 'let only requests through that read: GET, and queries of GraphQL'],
  ['--basic-encoding <encoding>', 'form: form-encoded in Basic, for OAuth token endpoints'],
  ['--description <text>', "what it is for, which agents are shown: 'test account'"],
  references,
] as const
export const approvalOptions = [
  [
    '--approval <approver>',
    'each use needs the approval of a member or an admin: member, admin or none',
  ],
  ['--approval-ttl <time>', 'how long one approval may last: 15m (0s unless given: one use)'],
] as const
export const copyingOptions = [
  ['--to-project <project>', 'another project of the workspace'],
  dryRun,
  ['-f, --force', 'overwrite what is there with another value or policy'],
  yes,
] as const
export const tokenOptions = [
  ['--label <text>', 'a label for the token'],
  ['--expires-in-days <days>', '1 to 3650, or never (90 unless given)'],
  ['--may <capabilities>', 'use, read or use,read (agents use, workloads both, unless given)'],
] as const
export const rangeOptions = [
  ['--since <time>', 'from this ISO 8601 time on, or so long ago: 7d, 12h'],
  ['--until <time>', 'before this time'],
] as const
export const filterOptions = [
  ['--agent <agent>', 'only this agent, by name or id'],
  ['--domain <name>', 'only requests to this host, at whatever port'],
  ['--method <method>', 'only this method'],
  ['--status <code>', 'only this status'],
  ['--action <action>', 'only this action, such as secret.read'],
  ['--credential <secret>', 'only what has to do with this secret'],
  ['--result <result>', 'only calls with this result: allowed, refused or failed'],
  ...rangeOptions,
] as const
export const narrowingOptions = [
  ['--host <domain...>', 'limit the token to these hosts, such as api.anthropic.com'],
  ['--secret <secret...>', 'limit the token to these secrets'],
] as const
export const limitOptions = [
  ['--calls-per-minute <count>', 'most calls in a minute'],
  ['--calls-per-day <count>', 'most calls in a day (UTC)'],
  ['--concurrent-calls <count>', 'most calls at the same time'],
  ['--bytes-per-day <size>', 'most bytes of bodies in a day, such as 100MB'],
  ['--model-tokens-per-day <count>', 'most model tokens in a day'],
] as const
