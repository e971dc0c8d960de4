/** A person at a terminal: a home of their own, the compiled program, and a server of the test. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { executable } from '../binary/executable.ts'
import { searchFiles } from '../support/canary.ts'
import { watched } from '../support/watched.ts'

export type Run = { code: number; out: string; err: string }

export type Terminal = {
  /** Their working directory. */
  cwd: string
  home: string
  /** One command line; the session is kept unencrypted, because there is nobody to ask. */
  run(args: readonly string[], options?: RunOptions): Promise<Run>
  /** The same, which must succeed; answers what it printed. */
  must(...args: string[]): Promise<string>
  /** A line of shell in which `cloakroom` is the program. */
  shell(line: string, env?: Record<string, string>): Promise<Run>
  /** The same of a command whose very output is a value. */
  reveal(...args: string[]): Promise<string>
  /** The same with --json, parsed. */
  json(...args: string[]): Promise<unknown>
  /** A file in the working directory. */
  write(name: string, text: string): void
  remove(): void
}

export type RunOptions = {
  stdin?: string
  env?: Record<string, string>
  cwd?: string
  /** Standard output is where the command shows a value, as it should. */
  reveals?: boolean
}

type Server = { controlPlane: string; resolver: string }

export async function openTerminal(server: Server): Promise<Terminal> {
  const home = mkdtempSync(join(tmpdir(), 'cr-home-'))
  const cwd = join(home, 'work')
  mkdirSync(cwd)
  const base = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    // Else an agent process that somebody left unlocked on this machine would count.
    XDG_RUNTIME_DIR: home,
    SERVICE_SERVER_URL: server.controlPlane,
    SERVICE_RESOLVER_URL: server.resolver,
  }
  const spawn = async (
    command: string[],
    { stdin = '', env = {}, cwd: place = cwd, reveals = false }: RunOptions,
  ): Promise<Run> => {
    const child = watched(
      Bun.spawn(command, {
        cwd: place,
        env: { ...base, ...env },
        stdin: new Blob([stdin]),
        stdout: 'pipe',
        stderr: 'pipe',
      }),
      { reveals },
    )
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { code, out, err }
  }
  const run: Terminal['run'] = async (args, options = {}) =>
    spawn([await executable(), ...args], options)
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
    must,
    reveal: (...args) => mustRun(args, { reveals: true }),
    shell: async (line, env = {}) => {
      const PATH = `${dirname(await executable())}:${process.env.PATH}`
      return spawn(['bash', '-c', line], { env: { ...env, PATH } })
    },
    json: async (...args) => JSON.parse(await must(...args, '--json')),
    write: (name, text) => writeFileSync(join(cwd, name), text),
    remove: () => {
      searchFiles('state', home, ['work/'])
      rmSync(home, { recursive: true, force: true })
    },
  }
}

export const PASSWORD = 'a long passphrase that stays here'

/** Somebody registered and logged in at their terminal. */
export async function openAccount(server: Server, email: string): Promise<Terminal> {
  const terminal = await openTerminal(server)
  const { code, err } = await terminal.run(
    ['register', email, '--password-stdin', '--insecure-storage'],
    { stdin: `${PASSWORD}\n` },
  )
  if (code !== 0) throw new Error(err)
  return terminal
}
