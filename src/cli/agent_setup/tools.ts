/** The settings files of each program that can start `cloakroom mcp`. */
import { join } from 'node:path'
import { z } from 'zod'
import { type Program, type ProgramEntry, programs } from '../../client/agents/agent_setup.ts'
import { homeOf } from '../host.ts'
import { type ReachedServer, remoteEntries } from './remote.ts'

type Env = Record<string, string | undefined>

export type AgentProgram = Program & {
  /** The user's settings files, with the same form as a project's files. */
  user(env: Env): readonly string[]
  /** @throws CliError where the program does not support the transport */
  remote(server: ReachedServer): ProgramEntry
  /** The key of the servers in an existing file, if it differs. */
  serversIn?(present: unknown): readonly string[]
}

const home = (env: Env, ...path: string[]) => join(homeOf(env), ...path)
const configHome = (env: Env) => env.XDG_CONFIG_HOME || home(env, '.config')

export const tools: Readonly<Record<string, AgentProgram>> = {
  'claude-code': {
    ...programs['claude-code'],
    remote: remoteEntries['claude-code'],
    user: (env) => [join(env.CLAUDE_CONFIG_DIR || homeOf(env), '.claude.json')],
  },
  cursor: {
    ...programs.cursor,
    remote: remoteEntries.cursor,
    user: (env) => [home(env, '.cursor', 'mcp.json')],
  },
  vscode: {
    ...programs.vscode,
    remote: remoteEntries.vscode,
    user: (env) => [join(applicationData(env), 'Code', 'User', 'mcp.json')],
  },
  codex: {
    ...programs.codex,
    remote: remoteEntries.codex,
    user: (env) => [join(env.CODEX_HOME || home(env, '.codex'), 'config.toml')],
  },
  gemini: {
    ...programs.gemini,
    remote: remoteEntries.gemini,
    user: (env) => [home(env, '.gemini', 'settings.json')],
  },
  opencode: {
    ...programs.opencode,
    remote: remoteEntries.opencode,
    user: (env) =>
      ['opencode.json', 'opencode.jsonc'].map((name) => join(configHome(env), 'opencode', name)),
    serversIn: opencodeServers,
  },
}

export const toolNames = Object.keys(tools)

/** The folder of VS Code's user settings. */
function applicationData(env: Env): string {
  if (process.platform === 'darwin') return home(env, 'Library', 'Application Support')
  return env.APPDATA || configHome(env)
}

/** As version 2 writes them down, one level deeper; it reads both. */
const nested = z.looseObject({
  mcp: z.looseObject({ servers: z.looseObject({ type: z.undefined().optional() }) }),
})

function opencodeServers(present: unknown): readonly string[] {
  return nested.safeParse(present).success ? ['mcp', 'servers'] : ['mcp']
}
