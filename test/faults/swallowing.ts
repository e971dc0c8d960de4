/** A network in front of PostgreSQL that drops all bytes permanently: lost bytes of a connection never arrive later. */
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '../bench/processes.ts'

type Way = 'to' | 'from'

export type Wire = {
  port: number
  /** From now on no bytes pass in that direction, on existing connections and on new ones. */
  swallow(...ways: Way[]): void
  /** New connections pass; existing ones stay as they are. */
  mend(): void
  /** Bytes to the server are kept from now on, until they are delivered in one piece. */
  hold(): void
  deliver(): void
  /** Bytes that were held back. */
  readonly held: number
  readonly resets: number
  close(): void
}

type Place = { path: string } | { host: string; port: number }

export async function startWire(place: Place): Promise<Wire> {
  const port = freePort()
  const all = new Set<Socket>()
  /** Directions that each connection lost permanently. */
  const losses = new Set<Set<Way>>()
  let swallowed: Way[] = []
  let isHolding = false
  let resets = 0
  let kept: { far: Socket; bytes: Buffer }[] = []
  const keptFor = (far: Socket) => kept.filter((one) => one.far === far).length
  const give = (way: Way, other: Socket, bytes: Buffer) => {
    if (isHolding && way === 'to') kept.push({ far: other, bytes })
    else other.write(bytes)
  }
  const join = (near: Socket) => {
    const far = connect(place)
    const lost = new Set<Way>(swallowed)
    losses.add(lost)
    const pass = (way: Way, other: Socket) => (bytes: Buffer) => {
      if (!lost.has(way)) give(way, other, bytes)
      // Lost bytes are not confirmed: the server's buffers fill.
      else if (way === 'from') far.pause()
    }
    // If bytes were lost or held back, the other side does not receive the end of the connection either.
    const part = (other: Socket) => () => {
      if (!isHolding && lost.size + keptFor(far) === 0) other.destroy()
    }
    near.on('data', pass('to', far)).on('close', part(far))
    near.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNRESET') resets += 1
    })
    far.on('data', pass('from', near)).on('close', part(near))
    far.on('error', () => {})
    for (const socket of [near, far]) {
      all.add(socket)
      socket.on('close', () => all.delete(socket))
    }
  }
  const server = createServer(join)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    port,
    swallow: (...ways) => {
      swallowed = ways
      for (const lost of losses) for (const way of ways) lost.add(way)
    },
    mend: () => {
      swallowed = []
    },
    hold: () => {
      isHolding = true
    },
    deliver: () => {
      isHolding = false
      for (const { far, bytes } of kept.splice(0)) far.write(bytes)
    },
    get held() {
      return kept.reduce((sum, { bytes }) => sum + bytes.length, 0)
    },
    get resets() {
      return resets
    },
    close: () => {
      kept = []
      for (const socket of all) socket.destroy()
      server.close()
    },
  }
}
