/** Runs rekey-outer in the process with the embedded database, and streams progress as JSON lines. */
import { z } from 'zod'
import { parseOuterKeys } from '../../core/crypto/outer_keys.ts'
import { describeError } from '../../core/log.ts'
import { type OperatorHandler, replyNotUnderstood, type Surroundings } from '../operator_socket.ts'
import { RekeyProblem } from './problem.ts'
import { rekey } from './rekey.ts'

const request = z.strictObject({
  key: z.string().max(8),
  batch: z.number().int().min(1).max(10_000),
  pauseMs: z.number().min(0).max(3_600_000),
  dryRun: z.boolean(),
})

export function rekeyHandler({ connection, config, log, now }: Surroundings): OperatorHandler {
  const { sql } = connection
  const encryptionKey = config.ENCRYPTION_KEY
  let since: number | null = null
  return async (body, ended) => {
    const parsed = request.safeParse(body)
    if (!parsed.success) return replyNotUnderstood()
    const { key, ...wanted } = parsed.data
    const refused = refusal(key, encryptionKey, since)
    if (refused !== null) return new Response(refused, { status: 409 })
    since = now()
    return new Response(
      linesOf(ended, (send, signal) =>
        rekey({ sql, encryptionKey, onProgress: send, signal }, wanted)
          .then(
            (result) => send({ event: 'done', ...result }),
            (error: unknown) => {
              if (!signal.aborted && !(error instanceof RekeyProblem))
                log.error('rekey-outer failed', describeError(error))
              const message = error instanceof RekeyProblem ? error.message : SEE_LOG
              send({ event: 'failed', message })
            },
          )
          .finally(() => {
            since = null
          }),
      ),
    )
  }
}

const SEE_LOG = 'it failed; see the server log'

function refusal(key: string, encryptionKey: string, since: number | null): string | null {
  const [{ id }] = parseOuterKeys(encryptionKey)
  if (id !== key)
    return `nothing was done: the server's first key is ${id}, not ${key}; restart it first`
  if (since === null) return null
  return `another rekey-outer is running: in the server, since ${new Date(since).toISOString()}`
}

/** Streams progress until the work ends. A client that disconnects ends the work. */
function linesOf(
  ended: AbortSignal,
  work: (send: (line: object) => void, signal: AbortSignal) => Promise<void>,
): ReadableStream<Uint8Array> {
  const gone = new AbortController()
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (line: object) => {
        if (!gone.signal.aborted) controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`))
      }
      ended.addEventListener('abort', () => gone.abort())
      void work(send, gone.signal).finally(() => {
        if (!gone.signal.aborted) controller.close()
      })
    },
    cancel: () => gone.abort(),
  })
}
