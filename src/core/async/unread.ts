/**
 * Decisions are made in one step, by known data: nothing can change in between, and known data needs no wait. Unknown
 * data is read, and then the decision starts again.
 */

/** Thrown where something has to be read first. */
export class Unread extends Error {
  /** Resolves when it is known. */
  readonly read: Promise<unknown>

  constructor(read: Promise<unknown>) {
    super('not read yet')
    this.read = read
  }
}

/** More sequential reads than any decision needs. */
const MAX_READS = 10_000

/** Decides when all that it needs has been read. */
export async function decideWhenRead<T>(decide: () => T): Promise<T> {
  for (let reads = 0; reads < MAX_READS; reads++) {
    try {
      return decide()
    } catch (error) {
      if (!(error instanceof Unread)) throw error
      await error.read
    }
  }
  throw new Error('a decision needed too many reads')
}

/** Thrown in a transaction where something has to be read first that takes its time. */
export class UnreadBefore extends Error {
  readonly read: () => Promise<unknown>
  /** Whether the workspace's snapshot stays valid after the reading. */
  readonly keepsSnapshot: boolean

  constructor(read: () => Promise<unknown>, { keepsSnapshot = false } = {}) {
    super('not read yet')
    this.read = read
    this.keepsSnapshot = keepsSnapshot
  }
}

/** Repeats a transaction after reading its missing data outside of it, so that the read blocks no others. */
export async function transactWhenRead<T>(transact: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await transact()
    } catch (error) {
      if (!(error instanceof UnreadBefore)) throw error
      await error.read()
    }
  }
}
