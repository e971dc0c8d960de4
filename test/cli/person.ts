/**
 * A person at a terminal, with a separate home and the test's server. Commands run inside the test's
 * process, several concurrently if a test needs that. `openSpawningTerminal` starts the compiled program
 * instead, for tests about processes: signals, a terminal, child environments, the executable.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import type { Host } from '../../src/cli/host.ts'
import { runCommand } from '../../src/cli/index.ts'
import { executable } from '../binary/executable.ts'
import { search, searchFiles } from '../support/canary.ts'
import { cheapArgon2id } from '../support/cheap_argon2id.ts'
import { watched } from '../support/watched.ts'
import { type Typed, typing } from './pseudo_terminal.ts'

export type Run = { code: number; out: string; err: string }

export type Terminal = {
  /** Their working directory. */
  cwd: string
  home: string
  /** Runs one command line. The session is stored unencrypted, because no person can enter a passphrase. */
  run(args: readonly string[], options?: RunOptions): Promise<Run>
  /** Runs the command as a separate process, with the real Argon2id: use accounts that were made with it. */
  spawn(args: readonly string[], options?: RunOptions): Promise<Run>
  /** Runs a command that must succeed, and returns its output. */
  must(...args: string[]): Promise<string>
  /** Runs a line of shell in which `cloakroom` is the program. */
  shell(line: string, env?: Record<string, string>): Promise<Run>
  /** Runs a line of shell in a pseudo-terminal, and answers its questions. */
  type(line: string, typed?: readonly Typed[]): ReturnType<typeof typing>
  /** Runs a command that must succeed and whose output may contain a secret value. */
  reveal(...args: string[]): Promise<string>
  /** Runs a command with --json, which must succeed, and returns the parsed output. */
  json(...args: string[]): Promise<unknown>
  /** A file in the working directory. */
  write(name: string, text: string): void
  remove(): void
}

export type RunOptions = {
  stdin?: string
  env?: Record<string, string>
  cwd?: string
  /** This machine's clock. */
  now?: () => number
  /** Replacements for the provider and the person's browser. */
  providers?: Pick<Host, 'providerFetch' | 'openBrowser'>
  /** The command is expected to print a secret value to standard output. */
  reveals?: boolean
}

type Server = { controlPlane: string; resolver: string }

export function openTerminal(server: Server): Promise<Terminal> {
  return terminalWith(server, runInside)
}

/** Each command is a process, whose accounts have the real Argon2id. */
export function openSpawningTerminal(server: Server): Promise<Terminal> {
  return terminalWith(server, runProgram)
}

type Surroundings = {
  cwd: string
  env: Record<string, string>
  stdin: string
  reveals: boolean
  now?: (() => number) | undefined
  providers?: RunOptions['providers']
}
type Runner = (args: readonly string[], around: Surroundings) => Promise<Run>

async function terminalWith(server: Server, runner: Runner): Promise<Terminal> {
  const home = mkdtempSync(join(tmpdir(), 'cr-home-'))
  const cwd = join(home, 'work')
  mkdirSync(cwd)
  const base = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    // Prevents the use of an unlock process that is still running on this machine.
    XDG_RUNTIME_DIR: home,
    SERVICE_SERVER_URL: server.controlPlane,
    SERVICE_RESOLVER_URL: server.resolver,
  }
  const around = ({
    stdin = '',
    env = {},
    cwd: place = cwd,
    reveals = false,
    now,
    providers = {},
  }: RunOptions) => ({
    cwd: place,
    env: { ...base, ...env },
    stdin,
    reveals,
    now,
    providers,
  })
  const run: Terminal['run'] = (args, options = {}) => runner(args, around(options))
  const mustRun = async (args: readonly string[], options: RunOptions = {}) => {
    const { code, out, err } = await run(args, options)
    if (code !== 0) throw new Error(`cloakroom ${args.join(' ')} ended with ${code}: ${err}`)
    return out
  }
  const must = (...args: string[]) => mustRun(args)
  return {
    cwd,
    home,
    run,
    spawn: (args, options = {}) => runProgram(args, around(options)),
    must,
    reveal: (...args) => mustRun(args, { reveals: true }),
    shell: async (line, env = {}) =>
      startProgram(['bash', '-c', line], around({ env: { ...env, PATH: await programPath() } })),
    type: async (line, typed = []) =>
      typing(['bash', '-c', line], { cwd, env: { ...base, PATH: await programPath() }, typed }),
    json: async (...args) => JSON.parse(await must(...args, '--json')),
    write: (name, text) => writeFileSync(join(cwd, name), text),
    remove: () => {
      searchFiles('state', home, ['work/'])
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** A PATH on which `cloakroom` is the program. */
async function programPath(): Promise<string> {
  return `${dirname(await executable())}:${process.env.PATH}`
}

async function runInside(
  args: readonly string[],
  { cwd, env, stdin, reveals, now, providers }: Surroundings,
): Promise<Run> {
  const input = new PassThrough()
  input.end(stdin)
  const [stdout, stderr] = [keepingStream(), keepingStream()]
  const streams = { stdin: input, stdout, stderr }
  const code = await runCommand([...args], {
    env,
    cwd,
    streams,
    argon2id: cheapArgon2id,
    now,
    ...providers,
  })
  const [out, err] = [stdout.text(), stderr.text()]
  if (!reveals) search('output', 'stdout', out)
  search('output', 'stderr', err)
  return { code, out, err }
}

function keepingStream() {
  const pieces: Buffer[] = []
  const stream = new Writable({
    write: (piece: Buffer, _encoding, done) => {
      pieces.push(Buffer.from(piece))
      done()
    },
  })
  return Object.assign(stream, { text: () => Buffer.concat(pieces).toString() })
}

async function runProgram(args: readonly string[], around: Surroundings): Promise<Run> {
  return startProgram([await executable(), ...args], around)
}

async function startProgram(
  command: string[],
  { cwd, env, stdin, reveals }: Surroundings,
): Promise<Run> {
  const stdio = { stdin: new Blob([stdin]), stdout: 'pipe', stderr: 'pipe' } as const
  const child = watched(Bun.spawn(command, { cwd, env, ...stdio }), { reveals })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err }
}

export const PASSWORD = 'a long passphrase that stays here'

/** A person who has registered and is logged in at their terminal. */
export async function openAccount(server: Server, email: string): Promise<Terminal> {
  return registered(await openTerminal(server), email)
}

/** An account registered by the compiled program: its password also opens it in a real terminal. */
export async function openRealAccount(server: Server, email: string): Promise<Terminal> {
  const terminal = await openTerminal(server)
  return registered(terminal, email, terminal.spawn)
}

async function registered(
  terminal: Terminal,
  email: string,
  run = terminal.run,
): Promise<Terminal> {
  const args = ['register', email, '--password-stdin', '--insecure-storage']
  const { code, err } = await run(args, { stdin: `${PASSWORD}\n` })
  if (code !== 0) throw new Error(err)
  return terminal
}
