/**
 * The audit of the local backend until the server has it. It survives a killed proxy, a full reboot and
 * a server that is away: records are on disk before a credential leaves, are sent in the background, and
 * a segment is removed only when the server has all of it. Ids make a repeat harmless.
 */
import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { AuditRecord } from './record.ts'
import { isInUse, type Owner, readSegment, Segment, type StoredRecord } from './segment.ts'

/** What to send next: some records of one owner, and what to do when the server has them. */
export type Parcel = { owner: Owner; records: StoredRecord[]; delivered(): Promise<void> }

const MAX_SEGMENT_BYTES = 4 * 1_048_576

export class Outbox {
  readonly #directory: string
  readonly #owner: Owner
  readonly #isAlive: (pid: number) => boolean
  #live: Promise<Segment> | null = null
  /** Ours that take no more requests, each with the ids that the server has. */
  readonly #sealed = new Map<Segment, Set<string>>()

  constructor(directory: string, owner: Owner, isAlive = isRunning) {
    this.#directory = directory
    this.#owner = owner
    this.#isAlive = isAlive
  }

  /**
   * Returns when the record is on disk; `end` adds the outcome, in its own time.
   *
   * @throws Error when the disk does not take it
   */
  async begin(record: AuditRecord): Promise<{ end(outcome: AuditRecord): Promise<void> }> {
    const segment = await this.#segment()
    // Nothing may come between: a segment that was sealed meanwhile would be removed too early.
    await segment.begin(record)
    return { end: (outcome) => segment.end(outcome) }
  }

  /** A record that is complete. */
  async add(record: AuditRecord): Promise<void> {
    await (await this.#segment()).end(record)
  }

  /** Everything that can be sent by now, oldest first: ours, and what dead processes left. */
  async *parcels(): AsyncGenerator<Parcel, void> {
    yield* this.#left()
    await this.#seal()
    for (const [segment, sent] of this.#sealed) {
      await segment.decideDurably()
      const isWhole = !segment.hasOpen
      // A file that somebody took away holds up no other.
      const content = await readSegment(segment.path).catch(() => null)
      const records = content?.ended.filter(({ id }) => !sent.has(id)) ?? []
      if (records.length === 0 && !isWhole) continue
      const delivered = async () => {
        for (const { id } of records) sent.add(id)
        if (!isWhole) return
        this.#sealed.delete(segment)
        await segment.remove()
      }
      yield { owner: this.#owner, records, delivered }
    }
  }

  /** Ours stay on disk for a later run, as far as they were not sent. */
  async close(): Promise<void> {
    await this.#seal()
    for (const segment of this.#sealed.keys()) await segment.close()
    this.#sealed.clear()
  }

  /** Segments of this person whose process is gone; what it had begun will never end. */
  async *#left(): AsyncGenerator<Parcel, void> {
    for (const name of (await listed(this.#directory)).sort()) {
      const path = join(this.#directory, name)
      if (!/^[0-9a-f-]{36}\.jsonl$/.test(name) || isInUse(path)) continue
      const content = await readSegment(path).catch(() => null)
      const header = content?.header
      if (!content || !header || !this.#isOurs(header)) continue
      // A process of our own number that is not this one is gone.
      if (header.pid !== process.pid && this.#isAlive(header.pid)) continue
      const records = [...content.ended, ...content.begun]
      yield { owner: header, records, delivered: () => unlink(path).catch(() => {}) }
    }
  }

  #isOurs({ server, email }: Owner): boolean {
    return server === this.#owner.server && email === this.#owner.email
  }

  /** The segment that takes requests; a new one after the last was sealed or grew too large. */
  async #segment(): Promise<Segment> {
    while (true) {
      this.#live ??= this.#create()
      const live = await this.#live
      if (live.size > MAX_SEGMENT_BYTES) await this.#seal()
      if (!live.isSealed) return live
    }
  }

  async #create(): Promise<Segment> {
    const path = join(this.#directory, `${Bun.randomUUIDv7()}.jsonl`)
    try {
      return await Segment.create(path, { ...this.#owner, pid: process.pid })
    } catch (error) {
      this.#live = null
      throw error
    }
  }

  async #seal(): Promise<void> {
    const live = this.#live
    this.#live = null
    const segment = await live?.catch(() => null)
    if (!segment || segment.isSealed) return
    segment.isSealed = true
    this.#sealed.set(segment, new Set())
  }
}

async function listed(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => [])
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process: it lives.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
