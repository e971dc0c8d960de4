/**
 * Host names like those of real users: a name server on loopback, which the contestants' `/etc/resolv.conf` names.
 * Each contestant runs in its own mount namespace and decides itself what it resolves, and how often.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Names = {
  /** The command, wrapped so that it uses this name server. */
  within(cmd: readonly string[]): string[]
  stop(): void
}

const TTL_SECONDS = 30
const TYPE_A = 1

/** Every name has this address. @throws Error unless run as root, on Linux */
export async function serveNames(directory: string, address: string): Promise<Names> {
  const program = Bun.which('unshare')
  if (!program || process.getuid?.() !== 0) {
    throw new Error('a name server of the bench’s own needs root, and unshare')
  }
  // A separate loopback address, so that two benches can run at the same time.
  const hostname = `127.53.${(process.pid >> 8) & 255}.${process.pid & 255}`
  const socket = await Bun.udpSocket({
    hostname,
    port: 53,
    socket: {
      data: (server, query, port, from) => void server.send(answerTo(query, address), port, from),
    },
  })
  const file = join(directory, 'resolv.conf')
  writeFileSync(file, `nameserver ${hostname}\n`)
  const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'
  return {
    within: (cmd) => [program, '--mount', 'sh', '-c', script, file, ...cmd],
    stop: () => socket.close(),
  }
}

/** RFC 1035, section 4.1: the question again, followed by one A record if the question is for one. */
function answerTo(query: Buffer, address: string): Buffer {
  let end = 12
  while (query[end]) end += (query[end] ?? 0) + 1
  const isAsked = query.readUInt16BE(end + 1) === TYPE_A
  const head = Buffer.from([
    query[0] ?? 0,
    query[1] ?? 0,
    0x81,
    0x80,
    0,
    1,
    0,
    isAsked ? 1 : 0,
    0,
    0,
    0,
    0,
  ])
  const question = query.subarray(12, end + 5)
  if (!isAsked) return Buffer.concat([head, question])
  const record = [
    0xc0,
    12,
    0,
    TYPE_A,
    0,
    1,
    0,
    0,
    0,
    TTL_SECONDS,
    0,
    4,
    ...address.split('.').map(Number),
  ]
  return Buffer.concat([head, question, Buffer.from(record)])
}
