/**
 * Memory of buffered bodies, of callers and upstreams (protocol 6.2). A body is counted before its first byte is read,
 * so that many slow ones cannot fill the process together.
 */
import { Fault } from './fault.ts'

const MIB = 1024 * 1024
/** MiB that all bodies of a process may take; the setting `BODY_MEMORY_MIB` changes it. */
export const BODY_MEMORY_MIB = 512
/** The part of the memory that one workspace, or a person outside of one, may take. */
const SHARE = 4
/** Bytes that are counted ahead of a body without a declared length. */
const PORTION = 65_536

export class BodyMemory {
  readonly #limit: number
  readonly #shares: number
  #taken = 0
  readonly #takenBy = new Map<string, number>()

  /**
   * @param limit in bytes
   * @param shares how many owners may fill the memory: 1 where all bodies have one owner
   */
  constructor(limit: number = BODY_MEMORY_MIB * MIB, shares = SHARE) {
    this.#limit = limit
    this.#shares = shares
  }

  /** Bytes that one owner may take. */
  get share(): number {
    return this.#limit / this.#shares
  }

  /** Bytes that are counted now. */
  get taken(): number {
    return this.#taken
  }

  /** Opens an account for the bodies of one request, until `release`. `owner` is a workspace, a person or a network. */
  open(owner: string): BodyAccount {
    return new BodyAccount((bytes) => this.#take(owner, bytes))
  }

  /** @throws Fault `unavailable` over the process's limit, `rate_limited` over the owner's part of it */
  #take(owner: string, bytes: number): void {
    const own = (this.#takenBy.get(owner) ?? 0) + bytes
    if (bytes > 0) {
      if (this.#shares > 1 && own > this.share) throw ownLimit()
      if (this.#taken + bytes > this.#limit) throw processLimit()
    }
    this.#taken += bytes
    if (own > 0) this.#takenBy.set(owner, own)
    else this.#takenBy.delete(owner)
  }
}

/** Opens the memory with the configured size. */
export function openBodyMemory(
  { BODY_MEMORY_MIB: mib }: { BODY_MEMORY_MIB: number },
  shares = SHARE,
): BodyMemory {
  return new BodyMemory(mib * MIB, shares)
}

/** The memory that one request holds. */
export class BodyAccount {
  readonly #count: (bytes: number) => void
  #taken = 0
  #isReleased = false

  constructor(count: (bytes: number) => void) {
    this.#count = count
  }

  /** Counts bytes that are about to be held. @throws Fault `unavailable`, `rate_limited` */
  take(bytes: number): void {
    if (this.#isReleased) return
    this.#count(bytes)
    this.#taken += bytes
  }

  /** Returns bytes that the request no longer holds. */
  giveBack(bytes: number): void {
    const given = Math.min(bytes, this.#taken)
    this.#count(-given)
    this.#taken -= given
  }

  /**
   * Call it before reading a body. Counts the declared length, or else a first portion, and more as the meter counts
   * bytes.
   *
   * @throws Fault `unavailable`, `rate_limited`
   */
  expect(declared: number | null = null): BodyMeter {
    const meter = new BodyMeter(this)
    meter.hold(declared ?? 1)
    return meter
  }

  /** Releases all bytes of the request. */
  release(): void {
    this.giveBack(this.#taken)
    this.#isReleased = true
  }
}

/** Counts one body, or a stream's waiting bytes, in portions of 64 KiB. */
export class BodyMeter {
  readonly #account: BodyAccount
  #counted = 0
  #read = 0

  constructor(account: BodyAccount) {
    this.#account = account
  }

  /** Sets the bytes held now. @throws Fault `unavailable`, `rate_limited` */
  hold(bytes: number): void {
    const counted = PORTION * Math.ceil(bytes / PORTION)
    if (counted > this.#counted) this.#account.take(counted - this.#counted)
    else this.#account.giveBack(this.#counted - counted)
    this.#counted = counted
  }

  /** Adds bytes that are held. @throws Fault `unavailable`, `rate_limited` */
  read(bytes: number): void {
    this.#read += bytes
    if (this.#read > this.#counted) this.hold(this.#read)
  }

  /** Counts bytes like `read`, but returns false if there is no room for them. */
  mayRead(bytes: number): boolean {
    try {
      this.read(bytes)
      return true
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      this.#read -= bytes
      return false
    }
  }
}

function ownLimit(): Fault {
  return new Fault('rate_limited', {
    message:
      'The requests of this workspace hold too much memory. Wait for some to end, then retry.',
    headers: { 'retry-after': '1' },
  })
}

function processLimit(): Fault {
  return new Fault('unavailable', {
    message: 'Requests hold all the memory for bodies (BODY_MEMORY_MIB). Wait, then retry.',
    headers: { 'retry-after': '1' },
  })
}
