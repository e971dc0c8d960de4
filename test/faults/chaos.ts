/**
 * An API that fails in every way, beside all other work: other calls are answered, memory and open files stay within
 * bounds, and each call is recorded.
 */

import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { listAuditLogs } from '../../src/features/audit/contract.ts'
import type { Script } from '../support/upstream.ts'
import { must } from './ledger.ts'
import {
  type AgentToken,
  allow,
  createAgent,
  enrol,
  type Person,
  placeOf,
  store,
} from './person.ts'
import type { Random } from './random.ts'
import { HOST, type Replica, type Subject } from './subject.ts'
import type { World } from './world.ts'

const AT_ONCE = 12
/** An agent that stops waiting disconnects, which the server must detect. */
const PATIENCE_MS = 3_000
const MOST_MORE_BYTES = 256 * 1024 * 1024
/** A workspace's tokens keep this number of connections for their next calls; the rest are the callers' own. */
const MOST_MORE_SOCKETS = 64 + 40
const GIVEN_UP_WITHIN_MS = 60_000

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
const PIECE = 'x'.repeat(65_536)

/** Pieces for as long as a client reads them. */
function pour(wire: TLSSocket, piece: string): void {
  const more = () => {
    while (!wire.destroyed && wire.write(piece));
  }
  wire.on('drain', more)
  more()
}

function drip(wire: TLSSocket, text: string): void {
  let at = 0
  const timer = setInterval(() => {
    if (wire.destroyed || at >= text.length) clearInterval(timer)
    else wire.write(text.charAt(at++))
  }, 100)
}

const badManners: Record<string, Script> = {
  ends: (_, wire) => void wire.destroy(),
  half: (_, wire) => void wire.end(`${HEAD}content-length: 100\r\n\r\n{"half":`),
  silent: () => {},
  stalls: (_, wire) => void wire.write(`${HEAD}content-length: 100\r\n\r\n{"stalls":`),
  drips: (_, wire) => drip(wire, `${HEAD}content-length: 100\r\n\r\n${'d'.repeat(100)}`),
  headers: (_, wire) => pour(wire, `${HEAD}${`x-flood: ${'h'.repeat(1_000)}\r\n`.repeat(60)}`),
  body: (_, wire) => {
    wire.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`)
    pour(wire, `10000\r\n${PIECE}\r\n`)
  },
  continues: (_, wire) => pour(wire, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)),
  garbage: (_, wire) => void wire.end('\0\u0001\u0002 this is no HTTP \r\n\r\n\r\n'),
  lengths: (_, wire) =>
    void wire.end(`${HEAD}content-length: 5\r\ncontent-length: 6\r\n\r\n{"a":1}`),
  chunks: (_, wire) =>
    void wire.end(`${HEAD}transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n${PIECE}`),
}

/**
 * Callers of a bad API for the given number of seconds. Returns the observations.
 * @throws Loss
 */
export async function chaos(world: World, random: Random, seconds: number): Promise<string> {
  const { subject } = world
  const [replica] = subject.replicas as [Replica]
  for (const [kind, script] of Object.entries(badManners))
    subject.upstream.on(`/chaos/${kind}`, script)
  const noTls = await garbageListener()
  try {
    const caller = await someoneWith(subject, replica, noTls.port)
    const targets = [
      ...Object.keys(badManners).map((kind) => subject.target(`/chaos/${kind}`)),
      `https://${HOST}:${noTls.port}/chaos/tls`,
    ]
    const before = { bytes: memoryOf(replica), sockets: socketsOf(replica) }
    let calls = 0
    await world.through(async () => {
      const until = Date.now() + seconds * 1_000
      const loop = async () => {
        while (Date.now() < until) {
          calls += 1
          await callBadly(replica, caller, targets[random.between(0, targets.length - 1)] ?? '')
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, loop))
    })
    const more = memoryOf(replica) - before.bytes
    must(more < MOST_MORE_BYTES, () => `${more} bytes of memory more than before`)
    await allClosed(replica, before.sockets)
    const recorded = await allRecorded(caller, calls)
    return `${calls} bad calls, ${recorded} on record, ${(more / 1e6).toFixed(0)} MB more than before`
  } finally {
    subject.upstream.disconnect()
    await noTls.stop()
  }
}

type Caller = AgentToken & { person: Person }

async function someoneWith(subject: Subject, replica: Replica, port: number): Promise<Caller> {
  const person = await enrol(replica.controlPlane)
  await store(placeOf(person), { API_KEY: 'a key of chaos' })
  await allow(person, subject.domain)
  await allow(person, `${HOST}:${port}`)
  return { person, ...(await createAgent(person, 'chaos')) }
}

/** Every answer that arrives is right. */
async function callBadly({ resolver }: Replica, { token }: Caller, target_url: string) {
  const call = fetch(`${resolver}/v1/resolve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ target_url, headers: { Authorization: 'Bearer SVC_SECRET_API_KEY' } }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  await call.then((response) => response.arrayBuffer()).catch(() => {})
}

function memoryOf(replica: Replica): number {
  const status = readFileSync(`/proc/${replica.pid()}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}

/** Without the embedded database's files, which it opens for each table and index that was ever read. */
function socketsOf(replica: Replica): number {
  const folder = `/proc/${replica.pid()}/fd`
  return readdirSync(folder).filter((name) => isSocket(join(folder, name))).length
}

function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('socket:')
  } catch {
    return false
  }
}

/** Calls that agents abandoned end by the deadline of calls. */
async function allClosed(replica: Replica, before: number): Promise<void> {
  const until = Date.now() + GIVEN_UP_WITHIN_MS
  while (socketsOf(replica) > before + MOST_MORE_SOCKETS && Date.now() < until) await Bun.sleep(200)
  const more = socketsOf(replica) - before
  must(more <= MOST_MORE_SOCKETS, () => `${more} sockets more than before`)
}

async function allRecorded({ person }: Caller, calls: number): Promise<number> {
  const query = { workspace_id: person.workspace.id, domain: HOST, limit: 500 }
  const until = Date.now() + GIVEN_UP_WITHIN_MS
  for (;;) {
    const { length } = await person.api.list(listAuditLogs, { query })
    if (length >= calls) return length
    must(Date.now() < until, () => `${calls} calls, and ${length} of them on record`)
    await Bun.sleep(500)
  }
}

/** A listener that answers a TLS handshake with random bytes. */
async function garbageListener() {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    socket.end(Buffer.from(Array.from({ length: 512 }, () => randomInt(256))))
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const address = server.address()
  return {
    port: address !== null && typeof address === 'object' ? address.port : 0,
    stop: async () => {
      for (const socket of open) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}
