// tier: all
/** Answers that grow cost the server bounded memory, however many arrive at once. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { databasePlace } from '../support/places.ts'
import { type ServerProcess, startServer } from '../support/server_process.ts'
import { answerOf } from '../support/upstream.ts'

const MIB = 1024 * 1024
/** The size of one unpacked bomb. */
const BOMB = 512 * MIB
const AT_ONCE = 16
/** A sixteenth of the total of one round's bombs. */
const MAX_GROWTH = 512 * MIB

let stage: Stage
let server: ServerProcess
let agent: Agent
let directory: string

beforeAll(async () => {
  stage = await openStage()
  directory = mkdtempSync(join(databasePlace, 'cr-bomb-'))
  server = await startServer({
    DATA_DIR: join(directory, 'data'),
    LOG_LEVEL: 'error',
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE: stage.caFile,
    RESOLVER_HOSTS: 'api.upstream.example=127.0.0.1',
  })
  agent = await createAgentWithToken({ app: server.app, authorityOf: stage.authorityOf })
}, 30_000)
afterAll(async () => {
  server.kill('SIGTERM')
  await server.exited
  await stage.stop()
  rmSync(directory, { recursive: true, force: true })
}, 30_000)

/** The most that the process ever had in memory, in bytes. */
function peak(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}

// Runs first, because the bombs' peak would hide the memory of this test.
test('a download of 200 MiB passes through, and little of it stays in memory', async () => {
  const piece = Buffer.alloc(MIB, 'abcdefghij0123456789 ')
  stage.upstream.on('/download', async (_, wire) => {
    wire.write(`HTTP/1.1 200 OK\r\ncontent-length: ${200 * MIB}\r\n\r\n`)
    for (let sent = 0; sent < 200; sent += 1) {
      if (!wire.write(piece)) await new Promise((resolve) => wire.once('drain', resolve))
    }
  })
  const before = peak()
  const response = await fetch(`${server.resolver}/v1/resolve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ target_url: stage.url('/download'), stream: true }),
  })
  let received = 0
  for await (const chunk of response.body ?? []) received += chunk.length
  expect(received).toBe(200 * MIB)
  expect(peak() - before).toBeLessThan(100 * MIB)
}, 60_000)

const zeros = Buffer.alloc(BOMB)
const bombs: [string, () => Uint8Array][] = [
  ['gzip', () => gzipSync(zeros, { level: 1 })],
  ['br', () => brotliCompressSync(zeros, { params: { 1: 1 } })],
  ['zstd', () => zstdCompressSync(zeros)],
]

/** At least one answer was read up to the cap; the others may find their workspace's memory in use. */
function expectRefused(answers: readonly { status: number; body: unknown }[]): void {
  const codes = answers.map(({ status, body }) => [
    status,
    String((body as Record<string, unknown>).error_code),
  ])
  const allowed = [
    [502, 'upstream_too_large'],
    [429, 'rate_limited'],
  ]
  for (const code of codes) expect(allowed).toContainEqual(code)
  expect(codes).toContainEqual([502, 'upstream_too_large'])
}

test.each(bombs)(
  "sixteen concurrent bombs of %s are rejected in bounded memory: 502 by their size, or 429 by their workspace's memory",
  async (coding, make) => {
    stage.upstream.on(`/bomb/${coding}`, answerOf(200, { 'content-encoding': coding }, make()))
    const call = { target_url: stage.url(`/bomb/${coding}`) }
    const before = peak()
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => agent.resolve(call)))
    expectRefused(answers)
    expect(peak() - before).toBeLessThan(MAX_GROWTH)
  },
  60_000,
)

test('endless answers end at the cap, in bounded memory', async () => {
  const piece = Buffer.alloc(MIB, 'a')
  stage.upstream.on('/endless', async (_, wire) => {
    wire.write('HTTP/1.1 200 X\r\n\r\n')
    const closed = new Promise((resolve) => wire.once('close', resolve))
    while (wire.writable) {
      const full = !wire.write(piece)
      if (full) await Promise.race([new Promise((resolve) => wire.once('drain', resolve)), closed])
    }
  })
  const before = peak()
  const call = { target_url: stage.url('/endless') }
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => agent.resolve(call)))
  expectRefused(answers)
  expect(peak() - before).toBeLessThan(MAX_GROWTH)
}, 60_000)
