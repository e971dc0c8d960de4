/**
 * Connects an operator's commands to the process that has the embedded database open, which no other process can open:
 * a socket in DATA_DIR, accessible only to the server's user.
 */
import { chmodSync, existsSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Config } from '../core/config/config.ts'
import type { Log } from '../core/log.ts'
import type { Connection } from '../database/open.ts'

const SOCKET = 'backup.sock'
/** Maximum length of a socket's address that every system supports. */
const MAX_PATH = 100

export type Surroundings = { connection: Connection; config: Config; log: Log; now: () => number }
/** `ended` aborts when the command has disconnected. */
export type OperatorHandler = (body: unknown, ended: AbortSignal) => Promise<Response>

/** Serves until `stop`. Serves nothing on PostgreSQL, which commands query directly. */
export function serveOperators(
  { connection, config, log }: Surroundings,
  handlers: Readonly<Record<string, OperatorHandler>>,
): { stop(): void } | null {
  if (connection.kind !== 'embedded') return null
  const path = socketIn(resolve(config.DATA_DIR))
  if (path === null) {
    log.warning(
      'backup, rekey-outer and doctor are unavailable while the server runs: the path of DATA_DIR is too long for a socket',
    )
    return null
  }
  rmSync(path, { force: true })
  const server = Bun.serve({
    unix: path,
    maxRequestBodySize: 1024 * 1024,
    fetch: async (received, server) => {
      server.timeout(received, 0)
      const name = new URL(received.url).pathname.slice(1)
      const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined
      if (!handler) return new Response('not found', { status: 404 })
      return await handler(await received.json().catch(() => null), received.signal)
    },
  })
  chmodSync(path, 0o600)
  return {
    stop: () => {
      void server.stop(true)
      rmSync(path, { force: true })
    },
  }
}

export function replyNotUnderstood(): Response {
  return new Response('invalid request', { status: 400 })
}

/** @returns the response of the server that uses the directory, or `null` if none listens. */
export async function askServer(
  dataDir: string,
  name: string,
  body: unknown,
): Promise<Response | null> {
  const path = socketIn(resolve(dataDir))
  if (path === null || !existsSync(path)) return null
  const request = { unix: path, timeout: false, proxy: false } as RequestInit
  // A killed process leaves a socket without a listener.
  return await fetch(`http://localhost/${name}`, {
    ...request,
    method: 'POST',
    body: JSON.stringify(body),
  }).catch(() => null)
}

/** Returns a shorter path to the socket, or `null` if even that is too long. */
function socketIn(root: string): string | null {
  const whole = join(root, SOCKET)
  const short = relative(process.cwd(), whole)
  return [whole, short].find((path) => Buffer.byteLength(path) <= MAX_PATH) ?? null
}
