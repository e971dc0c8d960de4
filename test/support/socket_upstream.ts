/** External WebSocket servers, by hand: they accept the handshake and send any bytes that the test needs. */
import { createHash } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { until } from './until.ts'
import type { ReceivedRequest, Script } from './upstream.ts'

/** One side of an accepted WebSocket, from the view of the server. */
export type Accepted = {
  request: ReceivedRequest
  wire: TLSSocket
  /** The frames that the client sent, unmasked. */
  frames: { opcode: number; payload: Buffer }[]
  /** Waits for the next frame that was not read yet. */
  next(): Promise<{ opcode: number; payload: Buffer }>
  closed: Promise<void>
}

/** The value that answers a handshake's key (RFC 6455, section 4.2.2). */
export function acceptOf(request: ReceivedRequest): string {
  const key = request.header('sec-websocket-key') ?? ''
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}

/** Accepts every handshake; `headers` are added to the answer. */
export function accepting(
  take: (accepted: Accepted) => void,
  headers: (request: ReceivedRequest) => string = () => '',
): Script {
  return (request, wire) => {
    wire.removeAllListeners('data')
    const accepted = observe(request, wire)
    wire.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Accept: ${acceptOf(request)}\r\n${headers(request)}\r\n`,
    )
    take(accepted)
  }
}

/** An unmasked frame, like a server's; `final` false for a fragment. */
export function frame(opcode: number, payload: string | Uint8Array, final = true): Buffer {
  const bytes = Buffer.from(payload as Uint8Array)
  const head = Buffer.alloc(bytes.length < 126 ? 2 : bytes.length < 65_536 ? 4 : 10)
  head[0] = (final ? 0x80 : 0) | opcode
  head[1] = Math.min(bytes.length, bytes.length < 65_536 ? 126 : 127)
  if (head.length === 4) head.writeUInt16BE(bytes.length, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(bytes.length), 2)
  return Buffer.concat([head, bytes])
}

export function closing(code: number, reason = ''): Buffer {
  return frame(8, Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]))
}

function observe(request: ReceivedRequest, wire: TLSSocket): Accepted {
  const frames: Accepted['frames'] = []
  let [looked, pending] = [0, Buffer.alloc(0)]
  wire.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    for (let found = takeFrame(pending); found; found = takeFrame(pending)) {
      frames.push(found.frame)
      pending = found.rest
    }
  })
  return {
    request,
    wire,
    frames,
    next: async () => {
      const found = await until(() => frames[looked])
      looked += 1
      return found
    },
    closed: new Promise((resolve) => void wire.once('close', () => resolve())),
  }
}

function takeFrame(pending: Buffer<ArrayBuffer>) {
  const [start, length] = measure(pending)
  if (pending.length < start + 4 + length) return null
  const mask = pending.subarray(start, start + 4)
  const payload = Buffer.from(pending.subarray(start + 4, start + 4 + length))
  for (let at = 0; at < length; at++) payload[at] = (payload[at] ?? 0) ^ (mask[at & 3] ?? 0)
  return {
    frame: { opcode: (pending[0] ?? 0) & 0x0f, payload },
    rest: pending.subarray(start + 4 + length),
  }
}

/** The position of the mask and the length of the payload; endless while these are unknown. */
function measure(pending: Buffer): [start: number, length: number] {
  const short = (pending[1] ?? 0) & 0x7f
  if (pending.length < 10 && short === 127) return [10, Number.POSITIVE_INFINITY]
  if (pending.length < 4) return [2, Number.POSITIVE_INFINITY]
  if (short === 127) return [10, Number(pending.readBigUInt64BE(2))]
  return short === 126 ? [4, pending.readUInt16BE(2)] : [2, short]
}
