/**
 * The programs that are told of `cloakroom mcp`: which files each reads, and how it writes a server down. A
 * file never holds a token: the program starts us, and we take it from where the session is.
 */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { Entry } from './formats.ts'

type Env = Record<string, string | undefined>

export type Tool = {
  title: string
  format: 'json' | 'toml'
  /** Below the folder of the project; the first one that is there, else the first. */
  project: readonly string[]
  /** The same of a person's own files. */
  user(env: Env): readonly string[]
  /** Where the servers stand in what the file says. */
  servers(present: unknown): readonly string[]
  entry(command: readonly [string, ...string[]]): Entry
}

/**
 * What the keyring and the unlocked key are found by. Codex hands on the variables that it is told, and a few
 * more.
 */
const NEEDED = [
  'DBUS_SESSION_BUS_ADDRESS',
  'XDG_RUNTIME_DIR',
  'XDG_CONFIG_HOME',
  'SERVICE_PASSPHRASE',
]

const mcpServers = () => ['mcpServers']
const stdio: Tool['entry'] = ([command, ...args]) => ({ type: 'stdio', command, args })
const home = (...path: string[]) => join(homedir(), ...path)
const configHome = (env: Env) => env.XDG_CONFIG_HOME || home('.config')

export const tools: Readonly<Record<string, Tool>> = {
  'claude-code': {
    title: 'Claude Code',
    format: 'json',
    project: ['.mcp.json'],
    user: ({ CLAUDE_CONFIG_DIR }) => [join(CLAUDE_CONFIG_DIR || homedir(), '.claude.json')],
    servers: mcpServers,
    entry: stdio,
  },
  cursor: {
    title: 'Cursor',
    format: 'json',
    project: ['.cursor/mcp.json'],
    user: () => [home('.cursor', 'mcp.json')],
    servers: mcpServers,
    entry: stdio,
  },
  vscode: {
    title: 'VS Code',
    format: 'json',
    project: ['.vscode/mcp.json'],
    user: (env) => [join(applicationData(env), 'Code', 'User', 'mcp.json')],
    servers: () => ['servers'],
    entry: stdio,
  },
  codex: {
    title: 'Codex',
    format: 'toml',
    project: ['.codex/config.toml'],
    user: ({ CODEX_HOME }) => [join(CODEX_HOME || home('.codex'), 'config.toml')],
    servers: () => ['mcp_servers'],
    entry: ([command, ...args]) => ({ command, args, env_vars: NEEDED }),
  },
  gemini: {
    title: 'Gemini CLI',
    format: 'json',
    project: ['.gemini/settings.json'],
    user: () => [home('.gemini', 'settings.json')],
    servers: mcpServers,
    entry: ([command, ...args]) => ({ command, args }),
  },
  opencode: {
    title: 'opencode',
    format: 'json',
    project: ['opencode.json', 'opencode.jsonc'],
    user: (env) =>
      ['opencode.json', 'opencode.jsonc'].map((name) => join(configHome(env), 'opencode', name)),
    servers: opencodeServers,
    entry: (command) => ({ type: 'local', command }),
  },
}

export const toolNames = Object.keys(tools)

/** Where VS Code keeps what is the user's own. */
function applicationData(env: Env): string {
  if (process.platform === 'darwin') return home('Library', 'Application Support')
  return env.APPDATA || configHome(env)
}

/** As version 2 writes them down, one level deeper; it reads both. */
const nested = z.looseObject({
  mcp: z.looseObject({ servers: z.looseObject({ type: z.undefined().optional() }) }),
})

function opencodeServers(present: unknown): readonly string[] {
  return nested.safeParse(present).success ? ['mcp', 'servers'] : ['mcp']
}
