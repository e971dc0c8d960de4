// tier: quick
/** A token's row is cached for minutes, and an outdated row rejects no valid token (protocol 4). */
import { expect, test } from 'bun:test'
import type { AccessReader } from '../../src/access/reader.ts'
import { TokenCache, type TokenRow } from '../../src/access/tokens.ts'
import { Pepper } from '../../src/core/crypto/pepper.ts'
import { deriveVerifier, formatToken, mintToken, parseToken } from '../../src/core/crypto/token.ts'

const pepper = Pepper.parse('k'.repeat(36))
const WORKSPACE = '018f3a1e-0000-7000-8000-000000000001'
const OTHER = '018f3a1e-0000-7000-8000-000000000002'

/** A cache over one row, which the test can change. */
function cacheOf(token: { id: string; text: string }) {
  const presented = parseToken(token.text)
  if (!presented) throw new Error('no token')
  const identity = { kind: 'agt', id: token.id, ownerId: WORKSPACE } as const
  const row = {
    id: token.id,
    kind: 'agent' as const,
    workspaceId: WORKSPACE,
    verifier: pepper.sealVerifier(identity, deriveVerifier(presented)),
  }
  const stage = { row: row as Partial<TokenRow> | null, queries: 0, now: 0 }
  const reader = (async () => {
    stage.queries += 1
    return stage.row ? [{ ...stage.row }] : []
  }) as unknown as AccessReader
  return { stage, row, cache: new TokenCache(reader, { now: () => stage.now }, pepper) }
}

const refused = { code: 'invalid_token' }

test('a call after minutes without calls reads no row, one after a quarter of an hour does', async () => {
  const token = mintToken('agt')
  const { cache, stage } = cacheOf(token)
  await cache.verify(token.text)
  stage.now = 9 * 60_000
  await cache.verify(token.text)
  expect(stage.queries).toBe(1)
  stage.now = 15 * 60_000
  await cache.verify(token.text)
  expect(stage.queries).toBe(2)
})

test('a revoked token is rejected as soon as it was looked up, or a notice arrived', async () => {
  const token = mintToken('agt')
  const { cache, stage, row } = cacheOf(token)
  const live = await cache.verify(token.text)
  stage.row = null
  await expect(cache.confirm(live)).rejects.toMatchObject(refused)
  await expect(cache.verify(token.text)).rejects.toMatchObject(refused)
  stage.row = row
  await cache.verify(token.text)
  stage.row = null
  cache.forget(WORKSPACE)
  await expect(cache.verify(token.text)).rejects.toMatchObject(refused)
})

test('a row that does not match is read again before the token is rejected', async () => {
  const token = mintToken('agt')
  const { cache, stage, row } = cacheOf(token)
  stage.row = { ...row, workspaceId: OTHER }
  await expect(cache.verify(token.text)).rejects.toMatchObject(refused)
  stage.row = row
  expect((await cache.verify(token.text)).workspaceId).toBe(WORKSPACE)
})

test('a rejected token costs one query, whether it exists, is cached, or does not exist', async () => {
  const token = mintToken('agt')
  const { cache, stage } = cacheOf(token)
  const wrong = formatToken('agt', token.id, new Uint8Array(32).fill(1))
  const costOf = async (text: string) => {
    const before = stage.queries
    await expect(cache.verify(text)).rejects.toMatchObject(refused)
    return stage.queries - before
  }
  const uncached = await costOf(wrong)
  const cached = await costOf(wrong)
  stage.row = null
  expect([uncached, cached, await costOf(mintToken('agt').text)]).toEqual([1, 1, 1])
})
