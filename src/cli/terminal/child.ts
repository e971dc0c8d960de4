/**
 * A child process that feels like it was started by the shell: terminal, signals and exit code pass
 * through. What it prints is masked on the way, so that a careless `env` shows no value.
 */
import { constants } from 'node:os'
import { endsWithin } from '../../platform/timeout.ts'
import { CliError } from './cli_error.ts'
import { type Mask, prepareMask, type Values } from './mask.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const

type Options = {
  env: Record<string, string | undefined>
  /** Values to mask in what the child prints; none means that nothing is looked at. */
  masked: Values
}

type Opening = ReturnType<typeof prepareMask>

/**
 * Runs a command; returns its exit code, or 128 and the number of the signal that ended it.
 *
 * @throws CliError for what is no program, or cannot be executed
 */
export async function runChild(command: readonly string[], options: Options): Promise<number> {
  try {
    return await runProgram(command, options)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    const [name] = command
    if (code === 'ENOENT') throw new CliError('program_not_found', `there is no program ${name}`)
    if (code !== 'EACCES' && code !== 'ENOEXEC' && code !== 'EISDIR') throw error
    throw new CliError(
      'program_not_executable',
      `${name} cannot be executed`,
      'is it a program, and may you run it? see: ls -l',
    )
  }
}

async function runProgram(command: readonly string[], { env, masked }: Options): Promise<number> {
  if (Object.keys(masked).length === 0) return passThrough(command, env)
  const open = prepareMask(masked)
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY
  return isTerminal ? inTerminal(command, env, open) : piped(command, env, open)
}

async function passThrough(command: readonly string[], env: Options['env']): Promise<number> {
  const child = Bun.spawn([...command], { env, stdio: ['inherit', 'inherit', 'inherit'] })
  return ended(child)
}

async function piped(
  command: readonly string[],
  env: Options['env'],
  open: Opening,
): Promise<number> {
  const child = Bun.spawn([...command], { env, stdin: 'inherit', stdout: 'pipe', stderr: 'pipe' })
  const code = ended(child)
  await Promise.all([
    relay(child.stdout, maskFor(process.stdout, open)),
    relay(child.stderr, maskFor(process.stderr, open)),
  ])
  return code
}

async function relay(from: ReadableStream<Uint8Array>, mask: Mask): Promise<void> {
  for await (const chunk of from) mask.write(chunk)
  mask.end()
}

function maskFor(to: NodeJS.WriteStream, open: Opening): Mask {
  return open((text) => void to.write(text))
}

/** A pseudo-terminal of its own keeps colours, prompts and window size, and lets us mask what comes out. */
async function inTerminal(
  command: readonly string[],
  env: Options['env'],
  open: Opening,
): Promise<number> {
  const mask = maskFor(process.stdout, open)
  const closed = Promise.withResolvers<void>()
  const child = Bun.spawn([...command], {
    env,
    terminal: {
      cols: process.stdout.columns,
      rows: process.stdout.rows,
      name: env.TERM ?? 'xterm-256color',
      data: (_, chunk) => mask.write(chunk),
      exit: () => closed.resolve(),
    },
  })
  const { terminal } = child
  process.stdin.setRawMode(true)
  process.stdin.on('data', (chunk) => terminal?.write(chunk))
  process.stdout.on('resize', () => terminal?.resize(process.stdout.columns, process.stdout.rows))
  const code = await ended(child)
  // The last output may still be on its way when the child is gone.
  await endsWithin(200, closed.promise)
  mask.end()
  process.stdin.setRawMode(false)
  process.stdin.pause()
  return code
}

async function ended(child: Bun.Subprocess): Promise<number> {
  const handlers = SIGNALS.map((signal) => [signal, () => child.kill(signal)] as const)
  for (const [signal, handler] of handlers) process.on(signal, handler)
  const code = await child.exited
  for (const [signal, handler] of handlers) process.off(signal, handler)
  return child.signalCode ? 128 + numberOf(child.signalCode) : code
}

function numberOf(signal: NodeJS.Signals | number): number {
  return typeof signal === 'number' ? signal : constants.signals[signal]
}
