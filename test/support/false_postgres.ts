/** A server that replaces PostgreSQL: it sends on each connection the bytes that a test sets. */
import { connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'

export type Message = { type: string; body: Buffer }

export type Wire = {
  socket: Socket
  write(...messages: Uint8Array[]): void
  /** The client's next message after its start; rejects when the client is gone. */
  next(): Promise<Message>
}

export type FalsePostgres = {
  port: number
  /** The number of connections so far. */
  count(): number
  /** All bytes that clients sent to it. */
  received(): Buffer
  close(): void
}

type Options = { tls?: { cert: string; key: string } }

/** Uses TLS with a certificate, and none without; `serve` begins after the client's start. */
export async function falsePostgres(
  serve: (wire: Wire) => Promise<void>,
  { tls }: Options = {},
): Promise<FalsePostgres> {
  const sockets = new Set<Socket>()
  const received: Buffer[] = []
  let count = 0
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    return socket
  }
  const speak = async (socket: Socket) => {
    const reader = read(keep(socket), (bytes) => received.push(bytes))
    const write = (...messages: Uint8Array[]) => void socket.write(Buffer.concat(messages))
    let start = await reader.take(false)
    // SSLRequest (PostgreSQL documentation, "Message Formats").
    if (start.body.readUInt32BE(0) === 80_877_103) {
      write(Buffer.from('N'))
      start = await reader.take(false)
    }
    count += 1
    await serve({ socket, write, next: () => reader.take(true) })
  }
  const plain = createServer((socket) => void speak(socket).catch(() => {}))
  const inner = tls && createTlsServer(tls, (socket) => void speak(socket).catch(() => {}))
  const innerPort = inner ? await listening(inner) : 0
  const outer = createServer((socket) => {
    keep(socket).once('data', () => {
      socket.write('S')
      const within = keep(connect(innerPort, '127.0.0.1'))
      socket.pipe(within).pipe(socket)
    })
  })
  const port = await listening(inner ? outer : plain)
  return {
    port,
    count: () => count,
    received: () => Buffer.concat(received),
    close: () => {
      for (const socket of sockets) socket.destroy()
      for (const server of [plain, outer, inner]) server?.close()
    },
  }
}

export function listening(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    })
  })
}

/** Messages one after the other; the first of a client, and SSLRequest, have no type. */
function read(socket: Socket, onBytes: (bytes: Buffer) => void) {
  let held = Buffer.alloc(0)
  let wake = () => {}
  let isGone = false
  socket.on('data', (bytes: Buffer) => {
    onBytes(bytes)
    held = Buffer.concat([held, bytes])
    wake()
  })
  socket.on('close', () => {
    isGone = true
    wake()
  })
  const more = () => new Promise<void>((resolve) => (wake = resolve))
  const take = async (hasType: boolean): Promise<Message> => {
    const from = hasType ? 1 : 0
    while (held.length < from + 4 || held.length < from + held.readUInt32BE(from)) {
      if (isGone) throw new Error('the client is gone')
      await more()
    }
    const end = from + held.readUInt32BE(from)
    const message = {
      type: held.toString('latin1', 0, from),
      body: Buffer.from(held.subarray(from + 4, end)),
    }
    held = held.subarray(end)
    return message
  }
  return { take }
}

/** A message of the server; numbers are of four bytes, texts end with a zero. */
export function message(type: string, ...parts: (string | number | Uint8Array)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(`${part}\0`)
      return typeof part === 'number' ? int(part) : Buffer.from(part)
    }),
  )
  return Buffer.concat([Buffer.from(type), int(body.length + 4), body])
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export const AUTHENTICATED = message('R', 0)
export const READY = message('Z', Buffer.from('I'))

export function errorMessage(fields: Record<string, string>): Buffer {
  const texts = Object.entries(fields).map(([letter, text]) => `${letter}${text}`)
  return message('E', ...texts, Buffer.alloc(1))
}

const ANSWERS: Record<string, Buffer> = {
  S: READY,
  P: message('1'),
  B: message('2'),
  D: message('n'),
  E: message('C', 'SELECT 0'),
  Q: Buffer.concat([message('C', 'SELECT 0'), READY]),
}

/** Answers each statement with no rows, for as long as the client sends them. */
export async function answerAll(wire: Wire): Promise<void> {
  for (;;) wire.write(answerTo(await wire.next()))
}

export function answerTo({ type }: Message): Buffer {
  return ANSWERS[type] ?? Buffer.alloc(0)
}
