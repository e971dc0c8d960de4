/**
 * The options of all commands: from here commander has its flags, and each action its type. The word in
 * brackets says what completes the value (`completion/sources.ts`).
 */
import { allowUnknown, narrowingOptions } from './narrowing.ts'

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
const acceptChanged = [
  '--accept-changed-keys',
  'accept public keys that differ from those seen before',
] as const
export const token = [
  '--token <token>',
  'token of an agent or workload (SERVICE_TOKEN, …_FILE)',
] as const

const passwordStdin = ['--password-stdin', 'read the password from standard input'] as const
export const passwordOptions = [passwordStdin] as const
/** Of commands that open a session. */
export const entranceOptions = [
  passwordStdin,
  ['--name <name>', 'what to call the account on this machine (email@host unless given)'],
] as const
export const logOutOptions = [['--all', 'of every account of this machine']] as const
export const deleteAccountOptions = [passwordStdin, yes] as const
export const unlockOptions = [['--for <time>', 'how long: 30m, 8h, 1d', '8h']] as const
export const endSessionOptions = [['--others', 'all but the one of this machine'], yes] as const
export const useAccountOptions = [['--here', 'for this folder and those below it']] as const
export const configOptions = [
  ['--local', 'in the project file instead of the global one'],
  ['--unset', 'take the setting away'],
] as const
export const trustOptions = [['--remove', 'trust this folder no longer']] as const
/** Of commands that ask before something is lost. */
export const confirmOptions = [yes] as const
export const inviteOptions = [
  ['--role <role>', 'owner, admin, member or read_only', 'member'],
  acceptChanged,
  ['--fingerprint <address=fingerprint...>', 'what whoami shows the person you invite'],
] as const
const keepToken = ['--keep-token <token...>', 'a token that is to stay, by id'] as const
export const removeMemberOptions = [keepToken, yes] as const
export const roleOptions = [keepToken] as const
const without = ['--without <workspace...>', 'a workspace that is gone, by id'] as const
export const rotateKeysOptions = [keepToken, without, ...deleteAccountOptions] as const
export const rekeyOptions = [acceptChanged, yes] as const

/** Instead of telling settings from secrets by value. */
export const sensitivityOptions = [
  ['--sensitive', 'store secrets, whatever the values look like'],
  ['--plain', 'store settings, which are neither masked nor guarded'],
] as const
export const references = [
  '--references',
  'have ${NAME} in values stand for other secrets of the environment; $${NAME} is text',
] as const
const noMine = ['--no-mine', 'leave out your own values, which secrets set --mine keeps'] as const
/** The fields of a policy; a list may be given several times, and all but paths and templates with commas. */
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
  ['--basic-encoding <encoding>', 'form: form-encoded in Basic, for OAuth token endpoints'],
  ['--description <text>', "what it is for, which agents are shown: 'test account'"],
  references,
] as const
export const policySetOptions = [...policyFieldOptions, ...sensitivityOptions, yes] as const
export const dryRun = ['--dry-run', 'show by name what would change, and change nothing'] as const
const copying = [
  ['--to-project <project>', 'another project of the workspace'],
  dryRun,
  ['-f, --force', 'overwrite what is there with another value or policy'],
] as const
export const copyOptions = [
  ['--from <environment>', 'where they are; the chosen environment unless given'],
  ['--to <environment>', 'where they go; with --to-project the same unless given'],
  ...copying,
  yes,
] as const
export const copyEnvironmentOptions = [
  ['--only <secret...>', 'these only: A,B'],
  ...copying,
  yes,
] as const
export const undeleteOptions = [['--all', 'all that were deleted from the environment']] as const
export const removeOptions = [['--mine', 'only your own values on this machine'], yes] as const
export const rollBackOptions = [yes] as const
export const diffOptions = [
  ['--exit-code', 'exit with 1 if something differs'],
  ['--show-values', 'print the values that differ, which are hidden otherwise'],
] as const
/** Of commands that work with a token in place of a session. */
export const tokenOption = [token] as const
export const raw = [
  '--raw',
  'values as they are stored, with references instead of what they stand for',
] as const
export const getOptions = [
  token,
  raw,
  noMine,
  ['--version <version>', 'an earlier value, by the number that history shows'],
] as const

const savedToken = [
  '--agent <agent>',
  'an agent whose token is kept on this machine (agent create --save)',
] as const
const save = [
  '--save',
  'keep the token on this machine, beside the session, instead of printing it',
] as const
/** What any token is ordered with. */
export const tokenOptions = [
  ['--label <text>', 'a label for the token'],
  ['--expires-in-days <days>', '1 to 3650, or never (90 unless given)'],
  ['--may <capabilities>', 'use, read or use,read (agents use, workloads both, unless given)'],
] as const
export const agentTokenOptions = [save, ...narrowingOptions, allowUnknown, ...tokenOptions] as const
export const agentOptions = [
  save,
  ['--all-projects', 'for the whole workspace, without grants yet'],
  ...tokenOptions,
] as const
export const setupOptions = [
  savedToken,
  ['--user', "in your own settings of the program instead of the project's"],
  ['--print', 'print what is to be in the file, and write nothing'],
  ['--remove', 'take it out of the file again'],
  yes,
] as const
export const workloadTokenOptions = [
  ['--sealed', 'the form that authenticates and cannot decrypt'],
  ...tokenOptions,
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
  ...rangeOptions,
] as const
export const auditListOptions = [['--limit <count>', '1 to 500', '50'], ...filterOptions] as const
export const runOptions = [
  token,
  ['--no-mask', 'do not mask the values in what the command prints'],
  noMine,
  [
    '--allow-env <secret...>',
    'set this variable although it steers shells, loaders or interpreters',
  ],
  ['--watch', 'start the command anew when a value that it was given changes'],
  ['--watch-interval <time>', 'between two looks for changes (10s unless given)'],
  ['--grace <time>', 'before a restart, from SIGTERM to SIGKILL (10s unless given)'],
  ['--fallback <path>', 'a sealed copy of the values, kept here and used while the server is away'],
  ['--fallback-max-age <time>', 'how old that copy may be: 1h, 7d (24h unless given)'],
  allowEmpty,
] as const
export const injectOptions = [
  token,
  ['-i, --in-file <path>', 'the template; standard input unless given'],
  ['-o, --out-file <path>', 'what to write, for you only; standard output unless given'],
  noMine,
  ['--from <place...>', 'an environment that svc:// references may name too: shared/production'],
  ['-f, --force', 'replace a file that is there and has other content'],
] as const
export const callOptions = [
  ['-X, --request <method>', 'GET, or POST with a body, unless given'],
  ['-H, --header <line...>', 'a header, with placeholders such as SVC_SECRET_NAME'],
  ['-d, --data <text>', 'the body; @file reads a file, @- standard input'],
  ['-i, --include', 'print status and headers too'],
  ['--trace', 'have the API told of the trace of this call, and print its id'],
  ['--no-strict', 'send a placeholder as text where its policy does not list the place'],
  ['-f, --fail', 'exit with 1 when the upstream answers 400 or above'],
  ['-o, --output <path>', "write the answer's body to a file that only you may read"],
  ['--force', 'replace a file that is there'],
  savedToken,
  token,
] as const
export const echoOptions = [
  ['--port <number>', 'port on 127.0.0.1; 0 for a free one', '8443'],
] as const
export const consoleOptions = [
  ['--port <number>', 'port on loopback; 0 for a free one', '8890'],
  ['--no-open', 'do not open it in a browser'],
] as const
export const mcpOptions = [savedToken, token] as const
export const proxyOptions = [
  ['--port <number>', 'port on 127.0.0.1 (8899, or a free one with a command); 0 for a free one'],
  ['--agent <agent>', 'whose name the audit records carry'],
  ['--remote', 'values are put in by the resolver (with a token, unless given)'],
  ['--local', 'values are opened here, with your session (without a token, unless given)'],
  ['--strict', 'refuse hosts that are not on the allowlist, instead of passing them untouched'],
  ['--stand-ins <choice>', 'none sets no variables in the names of credentials', 'all'],
  ['--print-env', 'show the variables that are set for the command'],
  ['--token <token>', 'token of an agent (SERVICE_TOKEN, …_FILE)'],
] as const
