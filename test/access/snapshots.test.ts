// tier: quick, both databases always
/** The cached data of a workspace belongs to one policy version, is shared while it is read, and is bounded. */
import { expect, test } from 'bun:test'
import type { AccessReader } from '../../src/access/reader.ts'
import { openReader } from '../../src/access/reader.ts'
import { ChainCache } from '../../src/access/signed/chains.ts'
import { Verifier } from '../../src/access/signed/verifier.ts'
import { emptySnapshot, selectEvicted } from '../../src/access/snapshots/snapshot.ts'
import {
  type Snapshot,
  SnapshotCache,
  StaleSnapshot,
} from '../../src/access/snapshots/snapshots.ts'
import { decideWhenRead } from '../../src/core/async/unread.ts'
import { systemClock } from '../../src/core/clock.ts'
import { OuterLayer, secretRow } from '../../src/core/crypto/outer_layer.ts'
import { openLog } from '../../src/core/log.ts'
import { emptyChain } from '../../src/sigchain/index.ts'

const NO_BYTES = new Uint8Array()

const verifier = new Verifier({
  chains: new ChainCache(),
  log: openLog('error'),
  clock: systemClock,
})
const outer = OuterLayer.parse(Buffer.alloc(32, 1).toString('base64url'))

/** Answers each query from a list, and counts them. */
function scripted(answer: (query: string) => unknown[] | Promise<unknown[]>) {
  const queries: string[] = []
  const reader = (async (parts: TemplateStringsArray) => {
    queries.push(parts.join('?'))
    return answer(parts.join('?'))
  }) as unknown as AccessReader
  return { book: new SnapshotCache(reader, outer, verifier), queries }
}

const ID = '018f3a1e-0000-7000-8000-000000000001'
const row = (version: number) => ({ version, epoch: 1, domains: ['a.example'] })

test('concurrent requests share one read, and later ones need none', async () => {
  const { book, queries } = scripted(() => [row(1)])
  const snapshots = await Promise.all(Array.from({ length: 10 }, () => book.of('w')))
  snapshots.push(await book.of('w'))
  expect(new Set(snapshots).size).toBe(1)
  expect(queries.length).toBe(1)
})

test('a failed read is not cached', async () => {
  let attempts = 0
  const { book } = scripted(() => {
    attempts += 1
    if (attempts === 1) throw new Error('gone')
    return [row(1)]
  })
  await expect(Promise.all([book.of('w'), book.of('w')])).rejects.toThrow('gone')
  expect((await book.of('w')).policyVersion).toBe(1)
})

test('a deleted workspace is 401 to its tokens', async () => {
  const { book } = scripted(() => [])
  await expect(book.of('w')).rejects.toMatchObject({ code: 'invalid_token' })
})

test('a part of a newer version than the snapshot is never mixed into it', async () => {
  let version = 1
  const { book } = scripted((query) =>
    query.includes('secrets s') || query.includes('token_envelopes')
      ? [{ version, key: null, epoch: null }]
      : [row(version)],
  )
  const snapshot = await book.of('w')
  const secretsOf = (of: Snapshot, name: string) =>
    decideWhenRead(() => book.secrets(of, 'development', [name]))
  expect(await secretsOf(snapshot, 'A')).toEqual([])
  expect(await book.envelope(snapshot, 't', 'p', 'development')).toBeNull()
  version = 2
  await expect(secretsOf(snapshot, 'B')).rejects.toBeInstanceOf(StaleSnapshot)
  await expect(book.envelope(snapshot, 't', 'q', 'development')).rejects.toBeInstanceOf(
    StaleSnapshot,
  )
  // Data that was read under the old version stays unchanged, until the snapshot is forgotten.
  expect(await secretsOf(snapshot, 'A')).toEqual([])
  book.forget('w')
  expect((await book.of('w')).policyVersion).toBe(2)
})

test('unknown names do not fill the memory: the snapshot is read again', async () => {
  const { book } = scripted((query) =>
    query.includes('secrets s') ? [{ version: 1, key: null }] : [row(1)],
  )
  const snapshot = await book.of('w')
  const ask = async () => {
    for (let number = 0; number < 6_000; number += 1) {
      await decideWhenRead(() => book.secrets(snapshot, 'development', [`N${number}`]))
    }
  }
  await expect(ask()).rejects.toBeInstanceOf(StaleSnapshot)
  expect(snapshot.secrets.size).toBeLessThanOrEqual(5_001)
})

test('a reader stops waiting after its time limit with 503 unavailable, and passes errors on', async () => {
  const never = openReader((() => new Promise(() => {})) as never, 10)
  await expect(never`select 1`).rejects.toMatchObject({ code: 'unavailable' })
  const failing = openReader((() => Promise.reject(new Error('boom'))) as never, 10)
  await expect(failing`select 1`).rejects.toThrow('boom')
  const quick = openReader((() => Promise.resolve([{ a: 1 }])) as never, 10_000)
  expect(await quick<{ a: number }[]>`select 1`).toEqual([{ a: 1 }])
})

test('the ciphertexts of a small environment are read once, those of a large one each time', async () => {
  const size = { small: 1000, large: 70_000 }
  let environment: keyof typeof size = 'small'
  const sealed = async () =>
    outer.seal(
      'secrets.value',
      ID,
      secretRow({ projectId: ID, environment, key: 'A' }),
      new Uint8Array(size[environment]),
    )
  const { book, queries } = scripted(async (query) =>
    query.includes('secrets s')
      ? [
          {
            version: 1,
            project: ID,
            projectId: ID,
            environment,
            key: 'A',
            policy: null,
            sealed: await sealed(),
          },
        ]
      : [row(1)],
  )
  const snapshot = await book.of(ID)
  const read = async () => {
    const before = queries.length
    const [secret] = (await book.readEnvironment(snapshot, ID, environment)) ?? []
    expect(secret?.ciphertext?.length).toBe(size[environment])
    return queries.length - before
  }
  expect([await read(), await read(), await read()]).toEqual([1, 0, 0])
  environment = 'large'
  expect([await read(), await read()]).toEqual([1, 1])
  // An environment that is delivered as a whole is cached, however large.
  await book.environment(snapshot, ID, environment)
  expect(await read()).toBe(0)
})

test('cached environments do not fill a snapshot, so it is not read again forever', async () => {
  const rows = Array.from({ length: 2_000 }, (_, at) => ({
    ...{ version: 1, project: ID, projectId: ID, environment: 'e', policy: null },
    ...{ key: `K${at}`, sealed: new Uint8Array(40) },
  }))
  const { book } = scripted((query) => (query.includes('secrets s') ? rows : [row(1)]))
  const snapshot = await book.of(ID)
  for (let at = 0; at < 6; at += 1) {
    expect((await book.readEnvironment(snapshot, ID, `e${at}`))?.length).toBe(2_000)
  }
  expect(snapshot.environments.size).toBe(1)
})

test('snapshots of signed workspaces evict one another, the least used first', () => {
  const kept = (workspaceId: string, names: number): [string, { snapshot: Snapshot }] => {
    const known = { workspaceId, policyVersion: 1, epoch: 1, allowlist: [], hasReleases: false }
    const snapshot = emptySnapshot(known, emptyChain(workspaceId))
    const hashes = new Map(Array.from({ length: names }, (_, at) => [`K${at}`, NO_BYTES]))
    snapshot.signed?.environments.set('e', { hashes, manifest: null, revision: 0 })
    return [workspaceId, { snapshot }]
  }
  const [oldest, empty, older, newest] = [
    kept('oldest', 300_000),
    kept('empty', 0),
    kept('older', 150_000),
    kept('newest', 100_000),
  ]
  const crowd = (...all: ReturnType<typeof kept>[]) => selectEvicted(all, newest[1].snapshot)
  expect(crowd(empty, older, newest)).toEqual([])
  expect(crowd(oldest, empty, older, newest)).toEqual(['oldest'])
  expect(crowd(newest, kept('larger', 450_000), older)).toEqual(['larger'])
  expect(crowd(kept('first', 250_000), kept('second', 250_000), kept('third', 250_000))).toEqual([
    'first',
  ])
})
