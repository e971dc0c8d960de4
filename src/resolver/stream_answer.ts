/**
 * The upstream's answer as it arrives: status, sanitised headers, and a body in which credentials are
 * redacted across chunk borders. The deadline counts from byte to byte; a caller that goes away ends
 * the outbound call.
 */
import { Readable } from 'node:stream'
import zlib from 'node:zlib'
import { Fault } from '../kernel/fault.ts'
import { commonHeaders } from '../kernel/reply.ts'
import { checkFraming } from './answer.ts'
import type { Deadline } from './deadline.ts'
import { upstreamFault } from './dial.ts'
import { leadBack } from './forward_links.ts'
import { presentHeaders } from './headers.ts'
import type { Plan } from './plan.ts'
import { Redactor, Sanitiser } from './sanitise.ts'

/** What became of an answer that took its time, once: `fault` when it broke off. */
export type Ending = { redacted: boolean; fault: Fault | null }

type Options = Pick<Plan, 'values' | 'wholes' | 'authority' | 'pathAndQuery'> & {
  deadline: Deadline
  requestId: string
  leadBackTo: string | null
  onEnd(ending: Ending): void
}

/** These speak about the origin that they come from, which for the caller is the resolver. */
const OF_THE_ORIGIN = ['alt-svc', 'clear-site-data', 'strict-transport-security']

/** @throws Fault `upstream_protocol_error` for framing or a content coding that is not acceptable */
export function streamAnswer(response: Response, options: Options): Response {
  checkFraming(response)
  const sanitiser = new Sanitiser(options.values, options.wholes)
  const presented = presentHeaders(response.headers, (value) => sanitiser.redactHeaderValue(value))
  for (const name of OF_THE_ORIGIN) delete presented[name]
  if (options.leadBackTo) leadBack(presented, options, options.leadBackTo)
  const headersRedacted = sanitiser.redacted
  const body = decodedBody(response)
  const end = (fault: Fault | null, redacted = false) => {
    options.deadline.clear()
    options.onEnd({ redacted: redacted || headersRedacted, fault })
  }
  if (body === null) end(null)
  return new Response(body && redactedBody(body, options, end), {
    status: response.status,
    headers: completeHeaders(presented, options.requestId),
  })
}

/** SDKs report the upstream's `x-request-id`; ours, the id of the audit record, has a name besides. */
function completeHeaders(
  presented: Record<string, string>,
  requestId: string,
): Record<string, string> {
  const ours = commonHeaders(requestId)
  const theirs = presented['x-request-id']
  return {
    ...presented,
    ...ours,
    ...(theirs === undefined ? {} : { 'x-request-id': theirs }),
    'x-service-request-id': requestId,
  }
}

function redactedBody(
  body: ReadableStream<Uint8Array>,
  { values, wholes, deadline }: Options,
  end: (fault: Fault | null, redacted?: boolean) => void,
): ReadableStream<Uint8Array> {
  const redactor = new Redactor(values, wholes)
  const reader = body.getReader()
  let ended = false
  const endOnce = (fault: Fault | null) => {
    if (!ended) end(fault, redactor.redacted)
    ended = true
  }
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        await passOn(reader, redactor, controller, deadline)
        if (redactor.isFlushed) endOnce(null)
      } catch (error) {
        endOnce(deadline.isUnwanted ? null : faultOf(error, deadline))
        controller.error(error)
      }
    },
    cancel: async () => {
      endOnce(null)
      deadline.abort()
      await reader.cancel().catch(() => {})
    },
  })
}

/** Reads until there is something to give out, or the end. */
async function passOn(
  reader: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> },
  redactor: Redactor,
  controller: ReadableStreamDefaultController<Uint8Array>,
  deadline: Deadline,
): Promise<void> {
  while (true) {
    const { done, value } = await reader.read()
    deadline.putOff()
    const certain = done ? redactor.flush() : redactor.push(value ?? new Uint8Array())
    if (certain.length > 0) controller.enqueue(certain)
    if (done) controller.close()
    if (done || certain.length > 0) return
  }
}

function faultOf(error: unknown, deadline: Deadline): Fault {
  const isLate =
    deadline.signal.aborted || (error instanceof DOMException && error.name === 'TimeoutError')
  if (isLate) return new Fault('upstream_timeout', { cause: error })
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/^Z_|^ERR_/.test(code)) return new Fault('upstream_protocol_error', { cause: error })
  return upstreamFault(error)
}

const decoders: Record<string, () => NodeJS.ReadWriteStream> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
  zstd: () => zlib.createZstdDecompress(),
}

/** Decoded piece by piece: memory stays bounded whatever the pieces expand to. */
function decodedBody({ body, headers }: Response): ReadableStream<Uint8Array> | null {
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (body === null || coding === 'identity' || coding === '') return body
  const decoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined
  if (!decoder) throw new Fault('upstream_protocol_error')
  const source = Readable.fromWeb(body as never)
  const decoded = decoder() as unknown as Readable & NodeJS.WritableStream
  source.on('error', (error) => decoded.destroy(error))
  source.pipe(decoded)
  return Readable.toWeb(decoded) as unknown as ReadableStream<Uint8Array>
}
