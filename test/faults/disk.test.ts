// tier: all, both databases in test:all
/** A full disk during all work; `bun run faults --only disk` repeats it. */
import { expect } from 'bun:test'
import { databaseKind } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { fullDisk } from './disk.ts'

const { test } = requires('mounts')

test('a full disk returns 503 with a stable code, loses and tears nothing, and the server continues once there is room', async () => {
  expect(await fullDisk(databaseKind, 1, 1_500)).toContain('503')
})
