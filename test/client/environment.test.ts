// tier: quick
/** Environments of a signed workspace, which a client reads and writes beside others and with a lying server. */
import { beforeEach, describe, expect, test } from 'bun:test'
import {
  openWriter,
  readNamed,
  readSecret,
  readSecrets,
  removeRows,
  storeRows,
} from '../../src/client/environment.ts'
import { ApiError } from '../../src/client/http/api.ts'
import { UntrustedChain } from '../../src/client/signed/chain.ts'
import { signManifest } from '../../src/client/signed/statements.ts'
import { type OpenWorkspace, toPlainWorkspace } from '../../src/client/workspace.ts'
import { upsertSecrets } from '../../src/features/secrets/contract.ts'
import { manifestRoot, type Refusal } from '../../src/sigchain/index.ts'
import {
  ada,
  apiOf,
  bea,
  ENVIRONMENT,
  environmentIn,
  type Links,
  linksOfTwo,
  openedBy,
  openMemory,
  PROJECT,
  place,
  Store,
  sealed,
} from './signed_place.ts'

let links: Links
let store: Store
let known: ReturnType<typeof openMemory>
let workspace: OpenWorkspace

/** The environment the way a command of this machine opens it. */
const here = (by = workspace) =>
  environmentIn(
    by,
    apiOf(() => store),
  )

/** The next command on the same machine. */
const again = () => openedBy(ada, links, known)

const bodyOf = (secrets: { key: string; value: string }[]) => ({
  project_id: PROJECT,
  environment: ENVIRONMENT,
  secrets,
})

async function put(by: OpenWorkspace, values: Record<string, string>, meanwhile = async () => {}) {
  const target = here(by)
  const secrets = Object.entries(values).map(([key, value]) => ({
    key,
    value: sealed(by, key, value),
  }))
  let isFirst = true
  await openWriter(target)(storeRows(secrets), async (manifest) => {
    if (isFirst) await meanwhile()
    isFirst = false
    return target.api.call(upsertSecrets, { body: { ...bodyOf(secrets), manifest } })
  })
}

const namesOf = async (by = workspace) => (await readSecrets(here(by))).map(({ key }) => key)
const refusal = async (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (error) => (error instanceof UntrustedChain ? (error.cause as Refusal).reason : error),
  )

beforeEach(async () => {
  links = await linksOfTwo()
  store = new Store()
  known = openMemory()
  workspace = openedBy(ada, links, known)
})

describe('writing', () => {
  test('a write carries the manifest of its result, and increments the revision', async () => {
    await put(workspace, { A: '1', B: '2' })
    await put(workspace, { B: '3' })
    expect(await namesOf()).toEqual(['A', 'B'])
    expect(store.revision).toBe(2)
    // Read before its first write, and after.
    expect(store.calls.filter((call) => call === 'secrets.list')).toHaveLength(2)
  })

  test('two people who write at the same time both succeed, and no value is lost', async () => {
    const other = openedBy(bea, links)
    await put(workspace, { A: '1' }, () => put(other, { B: '2' }))
    expect(await namesOf()).toEqual(['A', 'B'])
    expect(store.revision).toBe(2)
  })

  test('a conflict with another cause is not retried', async () => {
    let sent = 0
    const write = openWriter(here())
    const conflict = new ApiError(409, { error_code: 'conflict' })
    const writing = write(removeRows(['A']), async () => {
      sent += 1
      throw conflict
    })
    expect(await refusal(writing)).toBe(conflict)
    expect(sent).toBe(1)
  })

  test('several writes in a row read once', async () => {
    const write = openWriter(here())
    for (const key of ['A', 'B', 'C']) {
      const secrets = [{ key, value: sealed(workspace, key, '1') }]
      await write(storeRows(secrets), async (manifest) =>
        here().api.call(upsertSecrets, { body: { ...bodyOf(secrets), manifest } }),
      )
    }
    expect(store.calls.filter((call) => call === 'secrets.list')).toHaveLength(1)
    expect(store.revision).toBe(3)
  })
})

describe('a server that lies is rejected', () => {
  const values = { A: '1', B: '2', C: '3' }
  beforeEach(() => put(workspace, values))

  test.each([
    ['an older value', (before: Store) => before.rows.set('A', sealed(workspace, 'A', 'older'))],
    ['a row left out', (before: Store) => before.rows.delete('B')],
    ['a row more', (before: Store) => before.rows.set('D', sealed(workspace, 'D', '4'))],
    ["another name's value", (before: Store) => before.rows.set('A', before.rows.get('B') ?? '')],
    ['no manifest', (before: Store) => Object.assign(before, { manifest: null, rows: new Map() })],
  ])('a server that lies with %s is rejected', async (_, change) => {
    change(store)
    expect(await refusal(readSecrets(here(), { include: 'value' }))).toMatch(/^(root|revision)$/)
    expect(await refusal(readSecrets(here()))).toMatch(/^(root|revision)$/)
    expect(await refusal(put(again(), { E: '5' }))).toMatch(/^(root|revision)$/)
  })

  test('a server that returns another value than it lists is rejected', async () => {
    const listed = store.listed(false).map(({ key, value_sha256 }) => [key, value_sha256] as const)
    store.hashes = new Map(listed)
    store.rows.set('A', sealed(workspace, 'A', 'another'))
    expect(await namesOf()).toEqual(['A', 'B', 'C'])
    expect(await refusal(readSecret(here(), 'A'))).toBe('root')
    expect(await refusal(readNamed(here(), new Set(['A', 'B'])))).toBe('root')
    expect(await refusal(readSecrets(here(), { include: 'value' }))).toBe('root')
    expect((await readSecret(here(), 'B')).key).toBe('B')
  })

  test('a server that returns a complete older state is rejected', async () => {
    const before = store.copy()
    await put(workspace, { A: '2' })
    store = before
    expect(await refusal(readSecrets(here()))).toBe('revision')
    expect(await refusal(put(again(), { A: '3' }))).toBe('revision')
    // A client that has seen no newer state cannot detect this.
    expect(await namesOf(openedBy(bea, links))).toEqual(['A', 'B', 'C'])
  })

  test('a manifest is refused if its signer cannot write', async () => {
    links = await linksOfTwo('read_only')
    const signer = await openedBy(bea, links).signer()
    const root = await manifestRoot(new Map())
    store.rows.clear()
    store.manifest = signer && (await signManifest(signer, place, { revision: 9, root }))
    expect(await refusal(readSecrets(here(openedBy(ada, links))))).toBe('right')
  })

  test('a server that returns the manifest of another environment is rejected', async () => {
    const elsewhere = { ...here(), environment: 'staging' }
    expect(await refusal(readSecrets(elsewhere))).toBe('mismatch')
  })
})

test('newer links are read before an answer is rejected', async () => {
  await put(workspace, { A: '1' })
  const other = openedBy(bea, links)
  await namesOf(other)
  await links.add({ type: 'allowlist.changed', body: { add: ['api.example.com'], remove: [] } })
  await put(openedBy(ada, links), { B: '2' })
  expect(await namesOf(other)).toEqual(['A', 'B'])
})

test('a plain workspace is read and written without manifests', async () => {
  const plain = toPlainWorkspace({ ...workspace, id: '01920000-0000-7000-8000-000000000100' })
  store.rows.set('A', sealed(workspace, 'A', '1'))
  const api = apiOf(() => store)
  const target = { api, workspace: plain, ...place }
  expect((await readSecrets(target)).map(({ key }) => key)).toEqual(['A'])
  expect(await openWriter(target)(removeRows(['A']), async (manifest) => manifest ?? 'none')).toBe(
    'none',
  )
})
