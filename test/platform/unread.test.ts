/** A decision is made in one go, when all that it needs has been read. */
import { expect, test } from 'bun:test'
import { Unread, whenRead } from '../../src/platform/unread.ts'

test('what is not known is read, and the decision is made from its beginning', async () => {
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
  expect(await whenRead(decide)).toBe('a and b')
  expect(attempts).toBe(3)
  expect(await whenRead(decide)).toBe('a and b')
  expect(attempts).toBe(4)
})

test('what cannot be read, and what is decided against, is thrown', async () => {
  const unreadable = () => {
    throw new Unread(Promise.reject(new Error('no database')))
  }
  expect(whenRead(unreadable)).rejects.toThrow('no database')
  const refused = () => {
    throw new Error('refused')
  }
  expect(whenRead(refused)).rejects.toThrow('refused')
})
