// tier: all, both databases in test:all
/** A full disk under everything at once; `bun run faults --only disk` does it again and again. */
import { expect } from 'bun:test'
import { databaseKind } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { fullDisk } from './disk.ts'

const { test } = requires('mounts')

test('a full disk is 503 with a stable code, nothing is lost or torn, and with room it goes on by itself', async () => {
  expect(await fullDisk(databaseKind, 1, 1_500)).toContain('503')
})
