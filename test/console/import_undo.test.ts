// tier: quick
/** The worker's undo of an import: it returns every value and deletes every new name, unless someone changed it since. */
import { beforeAll, beforeEach, expect, test } from 'bun:test'
import { type Entry, uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import {
  deleteStored,
  readProvenValues,
  versionsOf,
} from '../../src/client/actions/stored_secrets.ts'
import { undoStored, versionsAfter } from '../../src/client/actions/undo_store.ts'
import type { EnvironmentPlace } from '../../src/client/environment.ts'
import { transfersCommands } from '../../src/console/web/keys/commands/transfers.ts'
import type { UnlockedSession } from '../../src/console/web/keys/unlocked_session.ts'
import { sharedApp } from '../support/app.ts'
import { openEnvironment } from '../support/signed_environment.ts'
import { type SignedProject, signedProject } from '../support/statements.ts'
import { keysOf } from './unlocked_keys.ts'

const LIMITED = { allowed_domains: ['api.stripe.com'] }

let project: SignedProject
let keys: UnlockedSession
let to: { workspaceId: string; projectId: string; environment: string }

beforeAll(async () => {
  project = await signedProject(await sharedApp())
})
let environments = 0
beforeEach(async () => {
  environments += 1
  const { workspaceId, projectId, owner } = project
  to = { workspaceId, projectId, environment: `environment-${environments}` }
  keys = keysOf(owner)
  await put([{ key: 'STRIPE_KEY', value: 'before', policy: LIMITED }])
})

/** Another machine, with its own memory. */
const elsewhere = () => openEnvironment(project, project.owner, to.environment)
const put = (entries: Entry[], place = elsewhere()) => uploadSecrets(place, entries, true)
const stored = async () => {
  const found = await readProvenValues(elsewhere(), ['STRIPE_KEY', 'NEW_ONE', 'NEW_TWO'])
  return Object.fromEntries([...found].map(([key, { value, policy }]) => [key, { value, policy }]))
}
const BEFORE = { STRIPE_KEY: { value: 'before', policy: LIMITED } }

async function importAll() {
  const source = { text: 'STRIPE_KEY=after\nNEW_ONE=1\nNEW_TWO=2' }
  const versions = { STRIPE_KEY: 1, NEW_ONE: 0, NEW_TWO: 0 }
  const {
    created,
    updated,
    stored: imported,
  } = await transfersCommands.store(keys, {
    ...{ to, source, versions },
  })
  expect([created, updated]).toEqual([2, 1])
  return imported ?? []
}

test('the undo of an import stores earlier values with their policies and deletes new names', async () => {
  const imported = await importAll()
  expect(Object.keys(await stored()).sort()).toEqual(['NEW_ONE', 'NEW_TWO', 'STRIPE_KEY'])
  expect(await transfersCommands.undo(keys, { to, stored: imported })).toEqual({
    restored: ['STRIPE_KEY'],
    deleted: ['NEW_ONE', 'NEW_TWO'],
    changed: [],
  })
  expect(await stored()).toEqual(BEFORE)
  const versions = await versionsOf(elsewhere(), 'STRIPE_KEY')
  expect(versions.map(({ version }) => version)).toEqual([3, 2, 1])
})

test('the undo of an import leaves names that someone changed, deleted or added again, and lists them', async () => {
  const imported = await importAll()
  await put([{ key: 'STRIPE_KEY', value: 'theirs', policy: null }])
  await deleteStored(elsewhere(), 'NEW_ONE')
  await deleteStored(elsewhere(), 'NEW_TWO')
  await put([{ key: 'NEW_TWO', value: 'theirs', policy: null }])
  expect(await transfersCommands.undo(keys, { to, stored: imported })).toEqual({
    restored: [],
    deleted: [],
    changed: ['STRIPE_KEY', 'NEW_ONE', 'NEW_TWO'],
  })
  expect(await stored()).toEqual({
    STRIPE_KEY: { value: 'theirs', policy: null },
    NEW_TWO: { value: 'theirs', policy: null },
  })
})

type Race = { endpoint: string; key: string; restored: string[]; deleted: string[] }
const races: Race[] = [
  { endpoint: 'secrets.upsert', key: 'STRIPE_KEY', restored: [], deleted: ['NEW_ONE'] },
  { endpoint: 'secrets.delete', key: 'NEW_ONE', restored: ['STRIPE_KEY'], deleted: [] },
]

test.each(races)(
  'a concurrent write of $key just before $endpoint is not overwritten by the undo',
  async (race) => {
    const here = elsewhere()
    const entries: Entry[] = [
      { key: 'STRIPE_KEY', value: 'after', policy: LIMITED, expectedVersion: 1 },
      { key: 'NEW_ONE', value: '1', policy: null, expectedVersion: 0 },
    ]
    await put(entries, here)
    const imported = await versionsAfter(here, entries)
    const theirs = [{ key: race.key, value: 'theirs', policy: LIMITED }]
    const place = interrupted(here, race.endpoint, () => put(theirs))
    const { restored, deleted } = race
    expect(await undoStored(place, imported)).toEqual({
      restored: [...restored],
      deleted: [...deleted],
      changed: [race.key],
    })
    expect((await stored())[race.key]?.value).toBe('theirs')
  },
)

/** Acts once before the first call of an endpoint is sent. */
function interrupted(
  place: EnvironmentPlace,
  endpoint: string,
  act: () => Promise<unknown>,
): EnvironmentPlace {
  let isOver = false
  const call: typeof place.api.call = async (...sent) => {
    if (!isOver && sent[0].name === endpoint) {
      isOver = true
      await act()
    }
    return place.api.call(...sent)
  }
  return { ...place, api: Object.assign(Object.create(place.api), { call }) }
}
