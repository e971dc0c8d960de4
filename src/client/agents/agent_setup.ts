/**
 * The programs that can start `cloakroom mcp`: the file of a project that each reads, and how it writes a server
 * down. A file never holds a token: the program starts us, and we take it from where the session is, or from
 * `SERVICE_TOKEN`.
 */
import { stringify } from 'smol-toml'

export type ProgramEntry = Record<string, unknown>

export type Program = {
  title: string
  format: 'json' | 'toml'
  /** Paths in the project folder. The first existing one is used, otherwise the first. */
  project: readonly string[]
  /** The key of the servers in a separate file. */
  servers: readonly string[]
  entry(command: readonly [string, ...string[]]): ProgramEntry
}

/** The name of the server in each file. */
export const SERVER_NAME = 'cloakroom'

/**
 * The variables that locate the keyring and the unlocked key. Codex passes on the configured variables, and a few
 * more.
 */
const NEEDED = [
  'DBUS_SESSION_BUS_ADDRESS',
  'XDG_RUNTIME_DIR',
  'XDG_CONFIG_HOME',
  'SERVICE_PASSPHRASE',
]

const stdio: Program['entry'] = ([command, ...args]) => ({ type: 'stdio', command, args })

export const programs = {
  'claude-code': {
    title: 'Claude Code',
    format: 'json',
    project: ['.mcp.json'],
    servers: ['mcpServers'],
    entry: stdio,
  },
  cursor: {
    title: 'Cursor',
    format: 'json',
    project: ['.cursor/mcp.json'],
    servers: ['mcpServers'],
    entry: stdio,
  },
  vscode: {
    title: 'VS Code',
    format: 'json',
    project: ['.vscode/mcp.json'],
    servers: ['servers'],
    entry: stdio,
  },
  codex: {
    title: 'Codex',
    format: 'toml',
    project: ['.codex/config.toml'],
    servers: ['mcp_servers'],
    entry: ([command, ...args]) => ({ command, args, env_vars: NEEDED }),
  },
  gemini: {
    title: 'Gemini CLI',
    format: 'json',
    project: ['.gemini/settings.json'],
    servers: ['mcpServers'],
    entry: ([command, ...args]) => ({ command, args }),
  },
  opencode: {
    title: 'opencode',
    format: 'json',
    project: ['opencode.json', 'opencode.jsonc'],
    servers: ['mcp'],
    entry: (command) => ({ type: 'local', command }),
  },
} satisfies Record<string, Program>

/** The entry of a server in a file without other servers. */
export function programFile(
  { format, servers }: Program,
  entry: ProgramEntry,
  server = SERVER_NAME,
): string {
  const file = [...servers, server].reduceRight<ProgramEntry>(
    (inner, key) => ({ [key]: inner }),
    entry,
  )
  return format === 'json' ? `${JSON.stringify(file, null, 2)}\n` : `${stringify(file).trimEnd()}\n`
}
