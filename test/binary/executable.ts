/** The compiled program: built once per run, started in empty directories with a minimal environment. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildExecutable } from '../../src/dev/build.ts'
import { searchFiles } from '../support/canary.ts'
import { executablePlace } from '../support/places.ts'
import { watched } from '../support/watched.ts'

const SOURCE = join(import.meta.dir, '..', '..', 'src', 'main.ts')
/** Milliseconds until a start counts as hung. */
const TIMEOUT_MS = 40_000

let built: Promise<string> | undefined

/**
 * The path of the program. The runner builds it for files of `tier: all`, and prepares a script that starts it from
 * source for quick ones. Without a runner the first call builds it.
 */
export function executable(): Promise<string> {
  const prepared = process.env.TEST_EXECUTABLE
  built ??= prepared === undefined ? build() : Promise.resolve(prepared)
  return built
}

async function build(): Promise<string> {
  const outfile = join(executablePlace, 'cloakroom')
  await buildExecutable({ entry: SOURCE, outfile })
  return outfile
}

export type Ending = { code: number; stdout: string; stderr: string }

export type Program = {
  pid: number
  controlPlane: string
  resolver: string
  /** Standard error so far. */
  log(): string
  /** Resolves when standard error has the text; rejects when the program ends without it. */
  until(text: string): Promise<void>
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): void
  ended: Promise<Ending>
}

export type Start = {
  args?: string[]
  env?: Record<string, string>
  /** An empty directory unless given. */
  cwd?: string
}

/** Runs the program until it ends. A program that does not end is killed. */
export async function runProgram(start: Start = {}): Promise<Ending> {
  const { ended } = await spawnProgram(start)
  return ended
}

/** Starts the server on free ports and waits until it reports that it is ready. */
export async function startProgram({ env = {}, ...start }: Start): Promise<Program> {
  const program = await spawnProgram({ ...start, env: { PORT: '0', RESOLVER_PORT: '0', ...env } })
  await Promise.race([program.stdout.until('Stop: Ctrl-C'), rejectAt(program)])
  program.disarm()
  const addressOf = (name: string) =>
    new RegExp(`^ *${name} +(http://\\S+)$`, 'm').exec(program.stdout.text())?.[1] ?? ''
  return {
    pid: program.pid,
    controlPlane: addressOf('control plane'),
    resolver: addressOf('resolver'),
    log: program.stderr.text,
    until: (text) => program.stderr.until(text),
    signal: program.signal,
    ended: program.ended,
  }
}

/** A server that may not become ready, for tests that kill it on the way. */
export async function spawnProgram({ args = [], env = {}, cwd }: Start) {
  const empty = cwd === undefined ? mkdtempSync(join(tmpdir(), 'cr-empty-')) : null
  const child = watched(
    Bun.spawn([await executable(), ...args], {
      cwd: cwd ?? empty ?? '',
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  const watchdog = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS)
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)]
  const ended = (async (): Promise<Ending> => {
    const [code] = await Promise.all([child.exited, stdout.done, stderr.done])
    clearTimeout(watchdog)
    if (empty) {
      searchFiles('state', empty)
      rmSync(empty, { recursive: true, force: true })
    }
    return { code, stdout: stdout.text(), stderr: stderr.text() }
  })()
  return {
    pid: child.pid,
    stdout,
    stderr,
    signal: (name: NodeJS.Signals) => child.kill(name),
    /** Removes the time limit. */
    disarm: () => clearTimeout(watchdog),
    ended,
  }
}

async function rejectAt({ ended }: { ended: Promise<Ending> }): Promise<never> {
  const { code, stderr } = await ended
  throw new Error(`the program ended with ${code} before it was ready:\n${stderr}`)
}

function collect(stream: ReadableStream<Uint8Array>) {
  const waiting: { wanted: string; pending: PromiseWithResolvers<void> }[] = []
  let text = ''
  const done = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true })
      for (const { wanted, pending } of waiting) if (text.includes(wanted)) pending.resolve()
    }
    for (const { pending } of waiting) pending.reject(new Error(`ended after: ${text}`))
  })()
  return {
    done,
    text: () => text,
    until: (wanted: string): Promise<void> => {
      if (text.includes(wanted)) return Promise.resolve()
      const pending = Promise.withResolvers<void>()
      pending.promise.catch(() => {})
      waiting.push({ wanted, pending })
      return pending.promise
    },
  }
}
