// tier: quick
/** The local backend decides in a signed workspace by signed data, whatever the server's rows hold. */
import { beforeEach, expect, test } from 'bun:test'
import { openWriter, storeRows } from '../../src/client/environment.ts'
import type { Api } from '../../src/client/http/api.ts'
import type { OpenWorkspace } from '../../src/client/workspace.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { upsertSecrets } from '../../src/features/secrets/contract.ts'
import { VaultCache } from '../../src/proxy/local/vault_snapshot.ts'
import {
  ada,
  apiOf,
  bea,
  ENVIRONMENT,
  environmentIn,
  type Links,
  linksOfTwo,
  openedBy,
  PROJECT,
  place,
  Store,
  sealed,
} from '../client/signed_place.ts'

let links: Links
let store: Store
let workspace: OpenWorkspace
let cache: VaultCache
let now = 0

/** The local backend decides in a signed workspace by signed data, whatever the rows of the server contain. */
const api: Api = apiOf(() => store)

async function put(key: string, value: string, policy: Policy | null = null) {
  const secrets = [{ key, value: sealed(workspace, key, value, policy) }]
  if (policy) store.policies.set(key, policy)
  const target = environmentIn(workspace, api)
  await openWriter(target)(storeRows(secrets), (manifest) =>
    api.call(upsertSecrets, {
      body: { project_id: PROJECT, environment: ENVIRONMENT, secrets, manifest },
    }),
  )
}

const allow = (domain: string) =>
  links.add({ type: 'allowlist.changed', body: { add: [domain], remove: [] } })

/** Reads again after the cached data has expired. */
const later = () => {
  now += 11_000
  return cache.current()
}

beforeEach(async () => {
  links = await linksOfTwo()
  store = new Store()
  workspace = openedBy(ada, links)
  await allow('api.example.com')
  await put('KEY', 'one')
  now = 0
  cache = new VaultCache({ api, workspace: async () => workspace, ...place }, () => now)
})

test('allowed hosts are the signed ones, and usable values those that a manifest covers', async () => {
  const snapshot = await cache.current()
  expect(snapshot.allows('api.example.com', 443)).toBe(true)
  expect(snapshot.allows('evil.example', 443)).toBe(false)
  await allow('more.example')
  await put('KEY', 'two')
  const next = await later()
  expect(next.allows('more.example', 443)).toBe(true)
  const stored = next.sealed('KEY')
  expect(stored && Buffer.from(next.open(stored).reveal()).toString()).toBe('two')
})

test.each([
  ['an older value', () => store.rows.set('KEY', sealed(workspace, 'KEY', 'older'))],
  ['a value more', () => store.rows.set('MORE', sealed(workspace, 'MORE', 'more'))],
  ['nothing at all', () => Object.assign(store, { rows: new Map(), manifest: null })],
])('%s ends the use of the vault: nothing is sent', async (_, change) => {
  await cache.current()
  change()
  await expect(later()).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('The call was not sent: the server data of acme'),
  })
})

test('a removed member can no longer use values, whatever the server still returns', async () => {
  workspace = openedBy(bea, links)
  await cache.current()
  await links.add({ type: 'members.removed', body: { user_ids: [bea.person.user_id] } })
  await expect(later()).rejects.toMatchObject({ code: 'forbidden' })
})

const HELD: Policy = { approval: { by: 'member', ttl_seconds: 0 } }

function openedNow({ sealed, open }: Awaited<ReturnType<typeof cache.current>>, name: string) {
  const secret = sealed(name)
  if (!secret) throw new Error('the secret is there')
  return Buffer.from(open(secret).reveal()).toString()
}

test('a held secret is rejected with the option that helps, while others are used', async () => {
  await put('HELD', 'sk_live_held_value', HELD)
  const snapshot = await cache.current()
  expect(openedNow(snapshot, 'KEY')).toBe('one')
  expect(() => openedNow(snapshot, 'HELD')).toThrow(
    expect.objectContaining({
      code: 'approval_required',
      message: expect.stringContaining('Start the proxy with --remote.'),
      fix: { command: ['cloakroom', 'proxy', '--remote'] },
    }),
  )
})

test('a held secret has no stand-in, and answers are still searched for its value', async () => {
  await put('HELD', 'sk_live_held_value', HELD)
  const snapshot = await cache.current()
  expect(await snapshot.credentials()).toContainEqual({
    name: 'HELD',
    locations: null,
    shape: null,
    setting: null,
    reason: 'approval',
  })
  const guard = (await snapshot.guard()).forCall({ used: [], made: [] })
  expect(guard.headerValue('echo sk_live_held_value')).not.toContain('sk_live_held_value')
})

test('a held secret whose approval was removed or added in the database does not open', async () => {
  await put('HELD', 'sk_live_held_value', HELD)
  store.policies.delete('HELD')
  store.policies.set('KEY', HELD)
  const snapshot = await cache.current()
  expect(() => openedNow(snapshot, 'HELD')).toThrow(
    expect.objectContaining({ code: 'unreadable_secret' }),
  )
  expect(() => openedNow(snapshot, 'KEY')).toThrow(
    expect.objectContaining({ code: 'unreadable_secret' }),
  )
})
