/** `cloakroom serve` as a process of its own, for what a test must not do to itself: signals, memory, environment. */
import { join } from 'node:path'
import { openApi } from '../../src/client/http/api.ts'
import type { TestApp } from './app.ts'
import { watched } from './watched.ts'

const FROM_SOURCE = [process.execPath, join(import.meta.dir, '../../src/main.ts')]

export type ServerProcess = {
  pid: number
  controlPlane: string
  resolver: string
  /** All that was written to standard output and standard error so far. */
  output(): string
  kill(signal: NodeJS.Signals): void
  /** The exit code, or the signal's name. */
  exited: Promise<number | string>
  /** As far as people and agents need it. */
  app: TestApp
}

/** Starts a command line and waits until it listens; throws what it wrote if it does not. */
export async function startServer(
  env: Record<string, string>,
  command: readonly string[] = FROM_SOURCE,
): Promise<ServerProcess> {
  const { PATH = '', HOME = '' } = process.env
  const child = watched(
    Bun.spawn([...command, 'serve'], {
      env: { PATH, HOME, PORT: '0', RESOLVER_PORT: '0', LOG_LEVEL: 'debug', ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  let output = ''
  const ready = Promise.withResolvers<void>()
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      output += decoder.decode(chunk, { stream: true })
      if (output.includes('Stop: Ctrl-C')) ready.resolve()
    }
  }
  const collected = Promise.all([collect(child.stdout), collect(child.stderr)])
  const exited = child.exited.then((code) => child.signalCode ?? code)
  // It has said why, which may be read after its end.
  void Promise.all([exited, collected]).then(([code]) =>
    ready.reject(new Error(`the server ended with ${code}: ${output}`)),
  )
  await ready.promise
  const controlPlane = originIn(output, 'control plane')
  const resolver = originIn(output, 'resolver')
  const api: Pick<TestApp, 'controlPlane' | 'resolver' | 'as'> = {
    controlPlane,
    resolver,
    as: (token) => openApi(controlPlane, () => token ?? null),
  }
  return {
    pid: child.pid,
    controlPlane,
    resolver,
    output: () => output,
    kill: (signal) => child.kill(signal),
    exited,
    app: api as TestApp,
  }
}

function originIn(banner: string, label: string): string {
  return new RegExp(`^ +${label} +(http://\\S+)$`, 'm').exec(banner)?.[1] ?? ''
}
