/**
 * Helper programs of the system, such as the keyring's. Each has a time limit: one that hangs is killed, and the error
 * names it. Programs that a person starts are not helpers.
 */
import { withTimeout } from './async/timeout.ts'
import { systemTimers, type Timers } from './async/timers.ts'

export type HelperEnd = { code: number; out: string; err: string }

export type HelperOptions = {
  /** Milliseconds until the program is killed. */
  limitMs: number
  /** Standard input: arguments are visible to other processes. */
  input?: string
  env?: Record<string, string | undefined>
  cwd?: string
  timers?: Timers
}

/** A helper that could not be started, or did not end in time. */
export class HelperFailed extends Error {
  override readonly name = 'HelperFailed'
  readonly isHanging: boolean

  constructor(message: string, isHanging: boolean, cause?: unknown) {
    super(message, { cause })
    this.isHanging = isHanging
  }
}

/** Runs a program to its end, and returns its output as text. @throws HelperFailed */
export async function runHelper(
  command: readonly [string, ...string[]],
  { limitMs, input = '', env, cwd, timers = systemTimers }: HelperOptions,
): Promise<HelperEnd> {
  const [name] = command
  const child = start(command, { input, ...(env && { env }), ...(cwd !== undefined && { cwd }) })
  const ended = Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  // Do not wait for the pipes of a killed program: its children may hold them open.
  ended.catch(() => {})
  const buildLateError = () =>
    new HelperFailed(`${name} did not respond within ${limitMs / 1_000} seconds`, true)
  try {
    const [out, err, code] = await withTimeout(limitMs, ended, buildLateError, timers)
    return { code, out, err }
  } finally {
    child.kill('SIGKILL')
    child.unref()
  }
}

function start(
  command: readonly string[],
  { input = '', ...around }: Pick<HelperOptions, 'input' | 'env' | 'cwd'>,
) {
  try {
    return Bun.spawn([...command], {
      stdin: new Blob([input]),
      stdout: 'pipe',
      stderr: 'pipe',
      ...around,
    })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    throw new HelperFailed(`${command[0]} cannot be started (${code})`, false, error)
  }
}

/** Starts a program that runs by itself, such as a browser, and waits for nothing of it. */
export function startDetached(
  command: readonly [string, ...string[]],
  env?: Record<string, string | undefined>,
): void {
  try {
    Bun.spawn([...command], { stdio: ['ignore', 'ignore', 'ignore'], ...(env && { env }) }).unref()
  } catch {
    // A machine may lack the program.
  }
}
