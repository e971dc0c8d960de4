// tier: quick, both databases in test:all
import { expect, test } from 'bun:test'
import { version } from '../../../package.json'
import { parseOuterKeys } from '../../../src/core/crypto/outer_keys.ts'
import { formatAnnouncedName } from '../../../src/database/announced.ts'
import { nameWithKeys } from '../../../src/database/keys/live_keys.ts'
import { migrations } from '../../../src/database/migrations/migrate.ts'

const keysOf = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    Buffer.alloc(32, index + 1).toString('base64url'),
  ).join()

test("a connection's name has the full IDs of at least three keys, and never a key", () => {
  const ids = parseOuterKeys(keysOf(9)).map(({ id }) => id)
  const begins = [`cloakroom/${version} ${migrations.at(-1)?.name} `, 'cloakroom ']
  const names = [formatAnnouncedName(keysOf(9)), nameWithKeys(keysOf(9))]
  for (const [index, name] of names.entries()) {
    const begin = begins[index] ?? ''
    expect(name.startsWith(begin)).toBe(true)
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63)
    const said = name.slice(begin.length).split(' ')
    expect(said.length).toBeGreaterThanOrEqual(3)
    expect(said).toEqual(ids.slice(0, said.length))
  }
  expect(nameWithKeys('')).toBe('cloakroom -')
})
