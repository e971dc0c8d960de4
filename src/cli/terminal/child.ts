/**
 * A child process that feels like it was started by the shell: terminal, signals and exit code pass through. Its output
 * is masked, so that a careless `env` shows no values.
 */
import { constants } from 'node:os'
import { endsWithin } from '../../core/async/timeout.ts'
import { type Host, isOwnProcess, type Screen } from '../host.ts'
import { CliError } from './cli_error.ts'
import type { Mask, Values } from './mask.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const

type Options = {
  env: Record<string, string | undefined>
  /** Values to mask in the output. Without values, the output is not scanned. */
  masked: Values
  /** Called when the first value in piped output is masked. A terminal shows it, and a notice would tear its screen. */
  onMasked?: () => void
  /** In a separate process group, which receives all signals, so that it ends with its children. */
  grouped?: boolean
}

/** A child that was started. */
export type Running = {
  pid: number
  /** Its exit code, or 128 and the number of the signal that ended it, when all that it printed is out. */
  ended: Promise<number>
}

/** Opens the mask of one output. */
type OpenMask = (to: Screen) => Promise<Mask>

/** Runs a command to its end; returns its exit code. @throws CliError for an unknown program */
export async function runChild(
  host: Host,
  command: readonly string[],
  options: Options,
): Promise<number> {
  return startChild(host, command, options).ended
}

/** @throws CliError for an unknown program, or one that cannot be executed */
export function startChild(host: Host, command: readonly string[], options: Options): Running {
  try {
    return start(host, [...command], options)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    const [name] = command
    if (code === 'ENOENT')
      throw new CliError(
        'program_not_found',
        `program not found: ${name}`,
        'check the name and PATH',
      )
    if (code !== 'EACCES' && code !== 'ENOEXEC' && code !== 'EISDIR') throw error
    throw new CliError(
      'program_not_executable',
      `${name} cannot be executed`,
      'check that it is executable: ls -l',
    )
  }
}

function start(host: Host, command: string[], options: Options): Running {
  const { masked, onMasked } = options
  const openPiped = prepareMasks(masked, onMasked)
  if (!isOwnProcess(host)) return startPiped(host, command, options, openPiped)
  if (Object.keys(masked).length === 0) return passThrough(command, options)
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY
  if (isTerminal) return startInTerminal(command, options, prepareMasks(masked))
  return startPiped(host, command, options, openPiped)
}

function passThrough(command: string[], { env, grouped = false }: Options): Running {
  const stdio = ['inherit', 'inherit', 'inherit'] as const
  const child = Bun.spawn(command, { env, detached: grouped, stdio: [...stdio] })
  return { pid: child.pid, ended: waitForEnd(child, grouped) }
}

function startPiped(
  host: Host,
  command: string[],
  { env, grouped = false }: Options,
  open: OpenMask,
): Running {
  const { cwd, streams } = host
  const { stdout, stderr } = streams
  const pipes = { stdin: inputFor(host), stdout: 'pipe', stderr: 'pipe' } as const
  const child = Bun.spawn(command, { cwd, env, detached: grouped, ...pipes })
  const code = waitForEnd(child, grouped)
  const relayed = Promise.all([
    relay(child.stdout, () => open(stdout)),
    relay(child.stderr, () => open(stderr)),
  ])
  return { pid: child.pid, ended: relayed.then(() => code) }
}

/** Input that the command has not read. */
function inputFor(host: Host): 'inherit' | Uint8Array {
  const { stdin } = host.streams
  return isOwnProcess(host) ? 'inherit' : Buffer.from(stdin.read() ?? '')
}

async function relay(from: ReadableStream<Uint8Array>, open: () => Promise<Mask>): Promise<void> {
  let mask: Mask | undefined
  for await (const chunk of from) {
    mask ??= await open()
    mask.write(chunk)
  }
  mask?.end()
}

/** Masking is prepared once for all outputs, and while the command runs: many print nothing. */
function prepareMasks(masked: Values, onMasked?: () => void): OpenMask {
  let prepared: Promise<ReturnType<typeof import('./mask.ts').prepareMask>> | undefined
  const prepare = async () => (await import('./mask.ts')).prepareMask(masked, undefined, onMasked)
  return async (to) => {
    prepared ??= prepare()
    return (await prepared)((text) => void to.write(text))
  }
}

/** A separate pseudo-terminal keeps colours, prompts and window size, and allows masking of the output. */
function startInTerminal(
  command: string[],
  { env, grouped = false }: Options,
  open: OpenMask,
): Running {
  const closed = Promise.withResolvers<void>()
  const child = Bun.spawn(command, {
    env,
    terminal: {
      cols: process.stdout.columns,
      rows: process.stdout.rows,
      name: env.TERM ?? 'xterm-256color',
      data: (_, chunk) => {
        // The runtime may reuse the chunk.
        const kept = chunk.slice()
        void mask.then(({ write }) => write(kept))
      },
      exit: () => closed.resolve(),
    },
  })
  const mask = open(process.stdout)
  const { terminal } = child
  const type = (chunk: Uint8Array) => void terminal?.write(chunk)
  const resize = () => terminal?.resize(process.stdout.columns, process.stdout.rows)
  process.stdin.setRawMode(true)
  process.stdin.on('data', type)
  // It may have been paused by an earlier child.
  process.stdin.resume()
  process.stdout.on('resize', resize)
  const finish = async () => {
    const code = await waitForEnd(child, grouped)
    // The last output may still be on its way when the child is gone.
    await endsWithin(200, closed.promise)
    ;(await mask).end()
    process.stdin.off('data', type)
    process.stdout.off('resize', resize)
    process.stdin.setRawMode(false)
    process.stdin.pause()
    return code
  }
  return { pid: child.pid, ended: finish() }
}

async function waitForEnd(child: Bun.Subprocess, grouped: boolean): Promise<number> {
  const send = (signal: NodeJS.Signals) =>
    grouped ? signalGroup(child.pid, signal) : child.kill(signal)
  const handlers = SIGNALS.map((signal) => [signal, () => void send(signal)] as const)
  for (const [signal, handler] of handlers) process.on(signal, handler)
  const code = await child.exited
  for (const [signal, handler] of handlers) process.off(signal, handler)
  return child.signalCode ? 128 + numberOf(child.signalCode) : code
}

const LOOK_MS = 50

/** Ends a child with its process group: by SIGTERM, and the remaining processes by SIGKILL. */
export async function endGroup(pid: number, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs
  let isThere = signalGroup(pid, 'SIGTERM')
  while (isThere && performance.now() < deadline) {
    await Bun.sleep(LOOK_MS)
    isThere = signalGroup(pid, 0)
  }
  if (isThere) signalGroup(pid, 'SIGKILL')
}

/** Whether the process group has members. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

function numberOf(signal: NodeJS.Signals | number): number {
  return typeof signal === 'number' ? signal : constants.signals[signal]
}
