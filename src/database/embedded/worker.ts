/**
 * The thread that runs PostgreSQL (PGlite), so that a long query does not stall the event loop that
 * answers requests. It talks to the process in `Order` and `Report` messages, and to the driver
 * through the bridge.
 */

import { statfsSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import bundle from '@electric-sql/pglite/pglite.data' with { type: 'file' }
import { type Health, serveBridge } from './bridge.ts'
import { DurableFs } from './durable_fs.ts'
import { DatabaseUpkeep } from './upkeep.ts'
import type { OpenOrder, Order, Report } from './worker_messages.ts'

/**
 * Single-user mode without `-F` (which turns fsync off) and without background processes, which
 * PGlite does not have. `fdatasync`, the default on Linux, does nothing in PGlite; `fsync` is real.
 */
const START_PARAMETERS = [
  '--single',
  '-j',
  ...setting('fsync', 'on'),
  ...setting('wal_sync_method', 'fsync'),
  ...setting('shared_buffers', '8MB'),
  ...setting('max_wal_size', '64MB'),
  ...setting('search_path', 'public'),
  ...setting('exit_on_error', 'false'),
  ...setting('log_checkpoints', 'false'),
  ...setting('io_method', 'sync'),
  ...setting('max_worker_processes', '0'),
  ...setting('max_parallel_workers', '0'),
  ...setting('max_parallel_workers_per_gather', '0'),
  ...setting('max_parallel_maintenance_workers', '0'),
]

type Running = { database: PGlite; fs: DurableFs; stopServing: () => void }

const complaints: string[] = []
let trusted = true
let running: Running | undefined

const health: Health = {
  isTrusted: () => trusted,
  fail(reason) {
    if (!trusted) return
    trusted = false
    // The driver's pending queries fail instead of waiting forever.
    running?.stopServing()
    report({ kind: 'failed', reason: [reason, ...complaints].join('; ') })
  },
}

self.addEventListener('message', (event: MessageEvent<Order>) => {
  obey(event.data).catch((error: unknown) => health.fail(describe(error)))
})

async function obey(order: Order): Promise<void> {
  if (order.kind === 'open') running = await open(order)
  if (order.kind === 'count_syncs') report({ kind: 'sync_count', count: running?.fs.syncs ?? 0 })
  if (order.kind === 'close') await close()
}

async function open({ directory, socketPath, programs }: OpenOrder): Promise<Running> {
  const fs = new DurableFs(directory, health.fail)
  const database = await PGlite.create({
    fs,
    startParams: START_PARAMETERS,
    pgliteWasmModule: programs.postgres,
    // Required by the type, but the data directory always comes from the template.
    initdbWasmModule: programs.initdb,
    fsBundle: Bun.file(bundle),
    onStderr: complain,
  })
  fs.takeSegments()
  const upkeep = new DatabaseUpkeep({
    now: () => performance.now(),
    freeBytes: () => freeBytes(directory),
    takeSegments: () => fs.takeSegments(),
  })
  const stopServing = serveBridge(database, socketPath, health, upkeep)
  report({ kind: 'opened' })
  return { database, fs, stopServing }
}

async function close(): Promise<void> {
  running?.stopServing()
  if (trusted) await running?.database.close()
  report({ kind: 'closed' })
}

function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

/** Keeps PostgreSQL's messages about its own end, never those about a statement and its values. */
function complain(line: string): boolean {
  const complaint = /\b(?:FATAL|PANIC): .*/.exec(line)
  if (complaint && complaints.length < 3) complaints.push(complaint[0].replace(/: +/, ': '))
  return false
}

function setting(name: string, value: string): string[] {
  return ['-c', `${name}=${value}`]
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function report(message: Report): void {
  postMessage(message)
}
