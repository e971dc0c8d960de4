/**
 * One file of the audit queue: JSON lines, appended and never changed. A request writes two: what it is
 * about to do, on disk before its credential leaves, and what became of it. Requests that come together
 * share one fsync.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { type FileHandle, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { AuditRecord } from './record.ts'

/** In whose name the records of a segment were made; other people's are not ours to send. */
const owner = z.object({
  server: z.string(),
  email: z.string(),
  workspace_id: z.string(),
  /** The agent that `--agent` named. */
  agent: z.string().nullable(),
})
export type Owner = z.output<typeof owner>

const header = owner.extend({ pid: z.number() })
export type SegmentHeader = z.output<typeof header>

const stored = z.looseObject({ id: z.string(), timestamp: z.string() })
const line = z.union([
  z.object({ begun: stored }),
  z.object({ ended: stored }),
  z.object({ segment: header }),
])

/** Files that this process still writes or sends. */
const inUse = new Set<string>()

export function isInUse(path: string): boolean {
  return inUse.has(path)
}

export class Segment {
  readonly path: string
  readonly #file: FileHandle
  /** Requests without an outcome on disk. */
  readonly #open = new Set<string>()
  #waiting: string[] = []
  #next: Promise<void> | null = null
  #tail: Promise<void> = Promise.resolve()
  size = 0
  /** Takes no more requests, only the outcomes of those that it has. */
  isSealed = false

  private constructor(path: string, file: FileHandle) {
    this.path = path
    this.#file = file
  }

  static async create(path: string, segment: SegmentHeader): Promise<Segment> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    inUse.add(path)
    const created = new Segment(path, await open(path, 'ax', 0o600))
    await created.#append({ segment })
    // The name of the file must survive, too.
    const directory = openSync(dirname(path), 'r')
    fsyncSync(directory)
    closeSync(directory)
    return created
  }

  get hasOpen(): boolean {
    return this.#open.size > 0
  }

  /** Returns when the record is on disk. @throws Error when it cannot be */
  async begin(record: AuditRecord): Promise<void> {
    this.#open.add(record.id)
    try {
      await this.#append({ begun: record })
    } catch (error) {
      this.#open.delete(record.id)
      throw error
    }
  }

  /** The outcome of what was begun, or a refusal, which is complete at once. */
  async end(record: AuditRecord): Promise<void> {
    this.#open.add(record.id)
    await this.#append({ ended: record })
    this.#open.delete(record.id)
  }

  /** Waits for what is being written. */
  async decideDurably(): Promise<void> {
    while (this.#next) await this.#next.catch(() => {})
    await this.#tail
  }

  async close(): Promise<void> {
    await this.decideDurably()
    await this.#file.close()
    inUse.delete(this.path)
  }

  async remove(): Promise<void> {
    await unlink(this.path).catch(() => {})
    await this.close()
  }

  #append(entry: z.input<typeof line>): Promise<void> {
    this.#waiting.push(JSON.stringify(entry))
    this.#next ??= this.#tail.then(() => this.#write())
    return this.#next
  }

  #write(): Promise<void> {
    // A line begins on a line of its own, even after one that a full disk cut short.
    const text = `\n${this.#waiting.join('\n')}\n`
    this.#waiting = []
    this.#next = null
    const written = this.#file.appendFile(text).then(() => this.#file.datasync())
    this.size += text.length
    this.#tail = written.catch(() => {})
    return written
  }
}

export type SegmentContent = {
  header: SegmentHeader | null
  /** With their outcome. */
  ended: StoredRecord[]
  /** Still on their way, or never to end because their process died. */
  begun: StoredRecord[]
}
export type StoredRecord = z.output<typeof stored>

/** Lines that a crash or a full disk left half written are passed over. */
export async function readSegment(path: string): Promise<SegmentContent> {
  const begun = new Map<string, StoredRecord>()
  const ended = new Map<string, StoredRecord>()
  let found: SegmentHeader | null = null
  for (const text of (await readFile(path, 'utf8')).split('\n')) {
    const parsed = text === '' ? null : line.safeParse(parse(text))
    if (!parsed?.success) continue
    const entry = parsed.data
    if ('segment' in entry) found = entry.segment
    else if ('begun' in entry) begun.set(entry.begun.id, entry.begun)
    else ended.set(entry.ended.id, entry.ended)
  }
  for (const id of ended.keys()) begun.delete(id)
  return { header: found, ended: [...ended.values()], begun: [...begun.values()] }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
