/**
 * How `cloakroom backup` asks the process that has the embedded database, which nobody else can open: a
 * socket in DATA_DIR, for the user of the server alone. The backup is made whole in DATA_DIR first, so that
 * a slow reader never holds the database up.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { z } from 'zod'
import type { Config } from '../../platform/config/config.ts'
import { SPOOL_PREFIX } from '../../platform/db/embedded/data_directory.ts'
import type { Connection } from '../../platform/db/open.ts'
import { describeError, type Log } from '../../platform/log.ts'
import { dump } from './dump.ts'
import { encrypterFor, writeLines } from './file.ts'
import { BackupProblem } from './problem.ts'

const SOCKET = 'backup.sock'
/** What addresses of sockets may be long, on every system. */
const MAX_PATH = 100
/** Ciphertext of a terabyte is more than any database here. */
const request = z.strictObject({ recipients: z.array(z.string().max(3000)).max(100) })

type Surroundings = { connection: Connection; config: Config; log: Log; now: () => number }

/** Serves until `stop`; nothing on PostgreSQL, which answers others itself. */
export function serveBackups({
  connection,
  config,
  log,
  now,
}: Surroundings): { stop(): void } | null {
  if (connection.kind !== 'embedded') return null
  const root = resolve(config.DATA_DIR)
  const path = socketIn(root)
  if (path === null) {
    log.warning('no backup while it runs: the path of DATA_DIR is too long for a socket')
    return null
  }
  rmSync(path, { force: true })
  let last: Promise<unknown> = Promise.resolve()
  const server = Bun.serve({
    unix: path,
    maxRequestBodySize: 1024 * 1024,
    fetch: async (received, server) => {
      server.timeout(received, 0)
      const parsed = request.safeParse(await received.json().catch(() => null))
      if (!parsed.success) return new Response('not understood', { status: 400 })
      // One after the other: each holds the database up.
      const mine = last.then(() => spool(parsed.data.recipients))
      last = mine.catch(() => {})
      return await mine.catch((error: unknown) => {
        log.error('backup failed', describeError(error))
        const why = error instanceof BackupProblem ? error.message : 'see the log of the server'
        return new Response(why, { status: 500 })
      })
    },
  })
  chmodSync(path, 0o600)
  const spool = async (recipients: readonly string[]): Promise<Response> => {
    const folder = mkdtempSync(join(root, SPOOL_PREFIX))
    const remove = () => rmSync(folder, { recursive: true, force: true })
    const file = join(folder, 'backup')
    try {
      const source = { sql: connection.sql, encryptionKey: config.ENCRYPTION_KEY, now }
      const made = await writeLines(file, encrypterFor(recipients), (take) => dump(source, take))
      // Removed while it is open: it lives as long as it is read.
      return new Response(readAndForget(file, remove), {
        headers: { 'x-bytes': `${Bun.file(file).size}`, 'x-summary': JSON.stringify(made.sums) },
      })
    } catch (error) {
      remove()
      throw error
    }
  }
  return {
    stop: () => {
      void server.stop(true)
      rmSync(path, { force: true })
    },
  }
}

function readAndForget(file: string, remove: () => void): ReadableStream<Uint8Array> {
  const reader = Bun.file(file).stream().getReader()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (value) controller.enqueue(value)
      if (!done) return
      remove()
      controller.close()
    },
    async cancel() {
      remove()
      await reader.cancel()
    },
  })
}

/** @returns the answer of the server that has the directory, or `null` where none listens. */
export async function askForBackup(
  dataDir: string,
  recipients: readonly string[],
): Promise<Response | null> {
  const path = socketIn(resolve(dataDir))
  if (path === null || !existsSync(path)) return null
  return await fetch('http://localhost/backup', {
    method: 'POST',
    unix: path,
    body: JSON.stringify({ recipients }),
    timeout: false,
    proxy: false,
  } as RequestInit)
}

/** The shorter way to it, or `null` where even that is too long. */
function socketIn(root: string): string | null {
  const whole = join(root, SOCKET)
  const short = relative(process.cwd(), whole)
  return [whole, short].find((path) => Buffer.byteLength(path) <= MAX_PATH) ?? null
}
