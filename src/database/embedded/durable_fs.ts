/**
 * Makes fsync real. Stock NodeFS has no fsync operation at all, so PostgreSQL believes that its log
 * is on the disk while it is in the page cache: an acknowledged write would not survive a power cut.
 *
 * A failed fsync may have dropped the dirty pages, so it must never be retried and nothing may be
 * acknowledged after it. PGlite swallows the abort that PostgreSQL answers it with: the failure is
 * therefore reported from here, and the bridge sends nothing any more.
 */

import { fsyncSync } from 'node:fs'
import type { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

type EmscriptenOptions = Parameters<NodeFS['init']>[1]

/** The part of an Emscripten module that the patch uses, with the host's file system mounted. */
type HostModule = {
  NODEFS: { stream_ops: { open(stream: HostStream): void; fsync?(stream: HostStream): number } }
}

type HostStream = { nfd: number; node: { name: string } }

/** The name of a segment of the write-ahead log. */
const SEGMENT = /^[0-9A-F]{24}$/

/** WASI error numbers, as fd_sync returns them. */
const WASI_EBADF = 8
const WASI_EINVAL = 28
const WASI_EIO = 29

export class DurableFs extends NodeFS {
  /** Successful fsync calls since the database was opened. */
  syncs = 0
  #segments = 0
  #segment = ''
  readonly #fail: (reason: string) => void
  readonly #sync: (descriptor: number) => void

  /**
   * @param directory PostgreSQL's data directory.
   * @param fail called synchronously, perhaps more than once, when the database can no longer be
   *   trusted: a sync failed, or PostgreSQL aborted.
   * @param sync makes what was written through a file descriptor durable, or throws.
   */
  constructor(directory: string, fail: (reason: string) => void, sync = fsyncSync) {
    super(directory)
    this.#fail = fail
    this.#sync = sync
  }

  /** @returns the number of new log segments since the last call. */
  takeSegments(): number {
    const taken = this.#segments
    this.#segments = 0
    return taken
  }

  override async init(database: PGlite, options: EmscriptenOptions) {
    const { emscriptenOpts } = await super.init(database, options)
    const watched = {
      ...emscriptenOpts,
      onAbort: () => this.#fail('PostgreSQL aborted'),
      preRun: [...(emscriptenOpts.preRun ?? []), (host: HostModule) => this.#patch(host)],
    }
    return { emscriptenOpts: watched }
  }

  #patch(host: HostModule): void {
    const operations = host.NODEFS.stream_ops
    const { open } = operations
    operations.open = (stream) => {
      open(stream)
      this.#notice(stream.node.name)
    }
    operations.fsync = (stream) => this.#makeDurable(stream.nfd)
  }

  /** PostgreSQL opens a segment when it begins to write it, and keeps it open. */
  #notice(name: string): void {
    if (name === this.#segment || !SEGMENT.test(name)) return
    this.#segment = name
    this.#segments += 1
  }

  /** @returns a WASI error number, or 0. */
  #makeDurable(descriptor: number): number {
    try {
      this.#sync(descriptor)
      this.syncs += 1
      return 0
    } catch (error) {
      return this.#refuse(error)
    }
  }

  /** Some file systems cannot sync directories and report it: PostgreSQL handles that. */
  #refuse(error: unknown): number {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EBADF') return WASI_EBADF
    if (code === 'EINVAL') return WASI_EINVAL
    this.#fail(`fsync failed (${String(code ?? error)})`)
    return WASI_EIO
  }
}
