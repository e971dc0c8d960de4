// tier: quick
/** A decision is made without interruption, once all needed values have been read. */
import { expect, test } from 'bun:test'
import {
  decideWhenRead,
  transactWhenRead,
  Unread,
  UnreadBefore,
} from '../../src/core/async/unread.ts'

test('an unknown value is read, and the decision is repeated from its beginning', async () => {
  const known: string[] = []
  let attempts = 0
  const need = (name: string) => {
    if (!known.includes(name)) throw new Unread(Promise.resolve().then(() => known.push(name)))
    return name
  }
  const decide = () => {
    attempts += 1
    return `${need('a')} and ${need('b')}`
  }
  expect(await decideWhenRead(decide)).toBe('a and b')
  expect(attempts).toBe(3)
  expect(await decideWhenRead(decide)).toBe('a and b')
  expect(attempts).toBe(4)
})

test('a failed read, and a negative decision, are thrown', async () => {
  const unreadable = () => {
    throw new Unread(Promise.reject(new Error('no database')))
  }
  expect(decideWhenRead(unreadable)).rejects.toThrow('no database')
  const refused = () => {
    throw new Error('refused')
  }
  expect(decideWhenRead(refused)).rejects.toThrow('refused')
})

test('a read that does not make the value known is not repeated forever', async () => {
  const never = () => {
    throw new Unread(Promise.resolve())
  }
  expect(decideWhenRead(never)).rejects.toThrow('too many reads')
})

test('a transaction restarts when a needed value was read outside it', async () => {
  const steps: string[] = []
  let isRead = false
  const read = async () => {
    steps.push('read')
    isRead = true
  }
  const outcome = await transactWhenRead(async () => {
    steps.push('begin')
    if (!isRead) throw new UnreadBefore(read)
    return 'done'
  })
  expect({ outcome, steps }).toEqual({ outcome: 'done', steps: ['begin', 'read', 'begin'] })
})

test('a failed read, and other failures, end the transaction', async () => {
  const gone = () => Promise.reject(new Error('gone'))
  const unread = () => Promise.reject(new UnreadBefore(gone))
  await expect(transactWhenRead(unread)).rejects.toThrow('gone')
  await expect(transactWhenRead(gone)).rejects.toThrow('gone')
})
