// tier: quick
/** Kept connections, and those that are closed to make room. */
import { describe, expect, test } from 'bun:test'
import { SessionPool } from '../../../src/outbound/connection/session_pool.ts'

class Session {
  closed = false
  readonly host: string

  constructor(host: string) {
    this.host = host
  }

  close(): void {
    this.closed = true
  }
}

const open = (host: string) => new Session(host)
const owner = (tokenId: string, workspaceId = 'one') => ({ workspaceId, tokenId })

describe('a session', () => {
  test('a session belongs to one token and one host', () => {
    const pool = new SessionPool({ open })
    const { session } = pool.take(owner('a'), 'x')
    expect(pool.take(owner('a'), 'x').session).toBe(session)
    expect(pool.take(owner('a'), 'y').session).not.toBe(session)
    expect(pool.take(owner('b'), 'x').session).not.toBe(session)
    expect(pool.take(owner('a', 'two'), 'x').session).not.toBe(session)
  })

  test('a session in use is never closed to make room', () => {
    const pool = new SessionPool({ open, max: 2, share: 2 })
    const leases = ['a', 'b', 'c', 'd'].map((token) => pool.take(owner(token), 'x'))
    expect(leases.map(({ session }) => session.closed)).toEqual([false, false, false, false])
    for (const { release } of leases) release()
    expect(leases.map(({ session }) => session.closed)).toEqual([true, true, false, false])
    expect(pool.size).toBe(2)
  })

  test('a session is in use until every call has returned it, each once', () => {
    const pool = new SessionPool({ open, max: 1, share: 1 })
    const first = pool.take(owner('a'), 'x')
    const second = pool.take(owner('a'), 'x')
    first.release()
    first.release()
    pool.take(owner('b'), 'x')
    expect(second.session.closed).toBe(false)
    second.release()
    expect(second.session.closed).toBe(true)
  })

  test('the least recently used session is closed first', () => {
    const pool = new SessionPool({ open, max: 2 })
    const [a, b] = ['a', 'b'].map((token) => {
      const lease = pool.take(owner(token), 'x')
      lease.release()
      return lease.session
    })
    pool.take(owner('a'), 'x').release()
    pool.take(owner('c'), 'x').release()
    expect([a?.closed, b?.closed]).toEqual([false, true])
  })
})

test('a workspace that has its share closes its own sessions first', () => {
  const pool = new SessionPool({ open, max: 10, share: 2 })
  const other = pool.take(owner('z', 'two'), 'x')
  other.release()
  for (let at = 0; at < 100; at += 1) pool.take(owner('a'), `host-${at}`).release()
  expect(other.session.closed).toBe(false)
  expect(pool.size).toBe(3)
})
