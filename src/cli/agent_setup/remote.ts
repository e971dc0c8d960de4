/**
 * Remote MCP servers, which a program reaches through forward mode. Its file names the variable SERVICE_TOKEN and the
 * placeholder of a secret. It never holds a token or a value.
 */
import { type ProgramEntry, type programs, SERVER_NAME } from '../../client/agents/agent_setup.ts'
import { placeholderOf, SECRET_NAME } from '../../core/names/secret_name.ts'
import type { Settings } from '../settings.ts'
import { CliError } from '../terminal/cli_error.ts'

/** A server under its address in forward mode. */
export type ReachedServer = {
  url: string
  /** MCP's older transport, HTTP with SSE. */
  isSse: boolean
  /** All but the token. */
  headers: Record<string, string>
}

const TOKEN_HEADER = 'X-Service-Token'
const TOKEN_VARIABLE = 'SERVICE_TOKEN'

/** A program that replaces `variable` in headers with the value of SERVICE_TOKEN. */
const createExpander = (variable: string) => (headers: ReachedServer['headers']) => ({
  ...headers,
  [TOKEN_HEADER]: variable,
})
const inBraces = createExpander(`\${${TOKEN_VARIABLE}}`)
const afterEnv = createExpander(`\${env:${TOKEN_VARIABLE}}`)
const afterEnvInBraces = createExpander(`{env:${TOKEN_VARIABLE}}`)
const typeOf = ({ isSse }: ReachedServer) => (isSse ? 'sse' : 'http')

/** Each program's documented format. Cursor and opencode find out the transport. */
export const remoteEntries: Record<keyof typeof programs, (server: ReachedServer) => ProgramEntry> =
  {
    'claude-code': (server) => ({
      type: typeOf(server),
      url: server.url,
      headers: inBraces(server.headers),
    }),
    cursor: ({ url, headers }) => ({ url, headers: afterEnv(headers) }),
    vscode: (server) => ({
      type: typeOf(server),
      url: server.url,
      headers: afterEnv(server.headers),
    }),
    codex: ({ url, isSse, headers }) => {
      if (isSse) throw new CliError('usage', 'Codex does not support MCP servers over SSE')
      return { url, http_headers: headers, env_http_headers: { [TOKEN_HEADER]: TOKEN_VARIABLE } }
    },
    gemini: ({ url, isSse, headers }) => ({
      [isSse ? 'url' : 'httpUrl']: url,
      headers: inBraces(headers),
    }),
    // Without OAuth: a 401 starts no flow whose tokens end in the program's files.
    opencode: ({ url, headers }) => ({
      type: 'remote',
      url,
      headers: afterEnvInBraces(headers),
      oauth: false,
    }),
  }

type Given = {
  mcpServer: string | undefined
  name: string | undefined
  secret: string | undefined
  user: boolean | undefined
  remove: boolean | undefined
}

/** The remote server that `--mcp-server` names. */
export type RemoteServer = {
  url: URL
  name: string
  secret: string
  /** The one that was chosen, if it belongs in the file. */
  environment: string | undefined
}

/** @throws CliError for an address or a name that cannot be used */
export function remoteServerOf(
  { environment }: Pick<Settings, 'environment'>,
  { mcpServer, ...given }: Given,
): RemoteServer | null {
  if (mcpServer === undefined) return null
  const url = URL.parse(mcpServer)
  // A password in it is not printed.
  if (url?.protocol !== 'https:' || url.username || url.password || url.hash)
    throw new CliError('usage', '--mcp-server takes an https URL without user and fragment')
  const label = labelOf(url.hostname)
  const secret = given.secret ?? `${label.toUpperCase().replaceAll('-', '_')}_MCP`
  if (!new RegExp(`^${SECRET_NAME}$`).test(secret))
    throw new CliError('usage', `${secret} is not a secret name`, 'give one with --secret')
  const counts = given.user ? environment?.origin !== 'default' : environment?.origin === 'flag'
  return {
    url,
    name: requireName(given.name ?? label),
    secret,
    environment: counts ? environment?.value : undefined,
  }
}

/** The name of the entry: that of the remote server, else of `cloakroom mcp`. @throws CliError */
export function entryName(remote: RemoteServer | null, { name, secret, remove }: Given): string {
  if (remote) return remote.name
  if (secret !== undefined || (name !== undefined && !remove))
    throw new CliError('usage', '--name and --secret belong to --mcp-server')
  return name === undefined ? SERVER_NAME : requireName(name)
}

function requireName(name: string): string {
  if (/^[\w-]+$/.test(name) && name !== SERVER_NAME) return name
  throw new CliError(
    'usage',
    `${JSON.stringify(name)} is not a valid name for a remote server`,
    'pass a --name of letters, digits, - and _; cloakroom is reserved for cloakroom mcp',
  )
}

const GENERAL = /^(mcp|api|www|app|co|com|org|net|ac)$/

/** The part of a host name that names the service: `linear` of mcp.linear.app. Empty without one. */
function labelOf(host: string): string {
  if (/^[\d.]+$|^\[/.test(host)) return ''
  return (
    host
      .split('.')
      .slice(0, -1)
      .findLast((label) => !GENERAL.test(label)) ?? ''
  )
}

/** The address in forward mode, and the headers but for the token. A URL that ends in /sse has the older transport. */
export function toReachedServer(
  resolver: string,
  { url, secret, environment }: RemoteServer,
): ReachedServer {
  return {
    url: `${resolver.replace(/\/$/, '')}/v1/forward/${url.host}${url.pathname}${url.search}`,
    isSse: /\/sse\/?$/.test(url.pathname),
    headers: {
      Authorization: `Bearer ${placeholderOf(secret)}`,
      ...(environment === undefined ? {} : { 'X-Service-Environment': environment }),
    },
  }
}

/** The steps that are missing before the program can reach the server, one command each. */
export function stepsBefore({ url, secret, environment }: RemoteServer, agent: string): string[] {
  const at = environment === undefined ? '' : ` -e ${environment}`
  return [
    `Store the credential: cloakroom connect ${secret} --url ${url.href}${at}`,
    `Set SERVICE_TOKEN for the program: cloakroom token issue ${agent} --host ${url.host} --secret ${secret}${at}`,
  ]
}

/** An entry of unknown origin with every text hidden that `shown` does not have. */
export function withoutUnknown(entry: ProgramEntry, shown: ProgramEntry | null): ProgramEntry {
  const known = new Set<unknown>()
  const collect = (value: unknown) => {
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect)
    else known.add(value)
  }
  collect(shown)
  const hide = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hide)
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hide(inner)]))
    return typeof value === 'string' && !known.has(value) ? '…' : value
  }
  return hide(entry) as ProgramEntry
}
