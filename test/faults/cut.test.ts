/** A network that is cut between server and PostgreSQL, under everything at once; `bun run faults --only cut` does it for long. */
import { expect, test } from 'bun:test'
import { databaseKind } from '../support/database.ts'
import { cutOff } from './cut.ts'

if (databaseKind === 'postgresql') {
  test('a network that is cut between server and database is 503, loses and tears nothing, and once mended the server goes on by itself', async () => {
    expect(await cutOff(1, 2_000, true)).toContain('health was 503')
  })
} else {
  test('the embedded database has no network that could be cut', () => {
    expect(databaseKind).toBe('embedded')
  })
}
