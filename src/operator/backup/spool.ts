/**
 * A backup by the process that has the embedded database. It is completed in DATA_DIR first, so that a slow reader
 * never blocks the database.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { describeError } from '../../core/log.ts'
import { SPOOL_PREFIX } from '../../database/embedded/data_directory.ts'
import { type OperatorHandler, replyNotUnderstood, type Surroundings } from '../operator_socket.ts'
import { BackupProblem } from './problem.ts'
import { asDiskFull } from './room.ts'
import { backUpServer } from './source.ts'

/** The status for a full disk: Insufficient Storage. */
export const NO_ROOM = 507

const request = z.strictObject({ recipients: z.array(z.string().max(3000)).max(100) })

export function backupHandler({ connection, config, log, now }: Surroundings): OperatorHandler {
  const spool = async (recipients: readonly string[]): Promise<Response> => {
    const folder = mkdtempSync(join(resolve(config.DATA_DIR), SPOOL_PREFIX))
    const remove = () => rmSync(folder, { recursive: true, force: true })
    const file = join(folder, 'backup')
    try {
      const made = await backUpServer({ connection, config, log, now }, file, recipients)
      // The file is unlinked while open, so it exists only until it is read.
      return new Response(readAndForget(file, remove), {
        headers: { 'x-bytes': `${Bun.file(file).size}`, 'x-summary': JSON.stringify(made.sums) },
      })
    } catch (error) {
      remove()
      throw asDiskFull(error, file)
    }
  }
  return async (body) => {
    const parsed = request.safeParse(body)
    if (!parsed.success) return replyNotUnderstood()
    return await spool(parsed.data.recipients).catch((error: unknown) => {
      log.error('backup failed', describeError(error))
      const problem = error instanceof BackupProblem ? error : null
      const status = problem?.code === 'disk_full' ? NO_ROOM : 500
      return new Response(problem?.message ?? 'see the server log', { status })
    })
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
