/**
 * The browser's memory in IndexedDB, shared by its tabs. It holds pins of chains, workspace keys and names (hashes and
 * numbers, nothing secret), and the sealed seed of a user who chose to stay unlocked.
 */
import type { NameLists } from '../../../client/known_names.ts'
import type { KnownEntry } from '../../../client/signed/known_chains.ts'
import type { KnownKey } from '../../../client/workspace_key.ts'

/** Entries that were read at the start, updated when other tabs write. */
type Remembered<V> = {
  of(id: string): V | undefined
  /** Writes the result of `change`, or nothing if it returns undefined. */
  put(id: string, change: (before: V | undefined) => V | undefined): void
}

/** A seed that is sealed under a key which no script can export. */
export type RememberedKey = {
  key: CryptoKey
  nonce: Uint8Array<ArrayBuffer>
  sealed: ArrayBuffer
  /** The user's email. It must match the server's answer. */
  email: string
  /** Milliseconds since 1970. */
  until: number
  /** The time of the last activity. If the clock is behind it, someone has set the clock back. */
  seen: number
}

export type BrowserMemory = {
  chains: Remembered<KnownEntry>
  workspaceKeys: Remembered<KnownKey>
  /** Each user's pinned names. */
  names: Remembered<NameLists>
  rememberedKey(userId: string): Promise<RememberedKey | undefined>
  /** Undefined removes the key. */
  setRememberedKey(userId: string, key: RememberedKey | undefined): Promise<void>
  /** Removes every user's key, because a profile has one session. Returns whether it had any key. */
  forgetRememberedKeys(): Promise<boolean>
  recordActivity(userId: string): Promise<void>
}

const NAME = 'cloakroom'
const VERSION = 2
const STORES = ['chains', 'workspaceKeys', 'staying', 'names'] as const
type StoreName = (typeof STORES)[number]

export async function openMemory(): Promise<BrowserMemory> {
  const database = await openDatabase()
  await forgetExpired(database)
  const [chains, workspaceKeys, names] = await Promise.all([
    openStore<KnownEntry>(database, 'chains'),
    openStore<KnownKey>(database, 'workspaceKeys'),
    openStore<NameLists>(database, 'names'),
  ])
  return {
    chains,
    workspaceKeys,
    names,
    rememberedKey: (userId) => get<RememberedKey>(database, 'staying', userId),
    setRememberedKey: (userId, key) => write(database, 'staying', userId, () => key),
    forgetRememberedKeys: async () => {
      const store = database.transaction('staying', 'readwrite').objectStore('staying')
      const kept = await done(store.count())
      await done(store.clear())
      return kept > 0
    },
    recordActivity: (userId) =>
      write<RememberedKey>(database, 'staying', userId, (kept) =>
        kept ? { ...kept, seen: Math.max(kept.seen, Date.now()) } : kept,
      ),
  }
}

function openDatabase(): Promise<IDBDatabase> {
  const opening = indexedDB.open(NAME, VERSION)
  opening.onupgradeneeded = () => {
    const { result } = opening
    for (const name of STORES) {
      if (!result.objectStoreNames.contains(name)) result.createObjectStore(name)
    }
  }
  return done(opening)
}

/** Corrections of a clock that do not count as setting it back. */
const CLOCK_SLACK_MS = 5 * 60_000

/** Removes every user's key that has expired by either clock. */
async function forgetExpired(database: IDBDatabase): Promise<void> {
  const store = database.transaction('staying', 'readwrite').objectStore('staying')
  const [ids, kept] = await Promise.all([done(store.getAllKeys()), done(store.getAll())])
  const now = Date.now()
  for (const [index, { until, seen }] of kept.entries()) {
    if (now < until && now > seen - CLOCK_SLACK_MS) continue
    await done(store.delete(ids[index] ?? ''))
  }
}

async function openStore<V>(database: IDBDatabase, name: StoreName): Promise<Remembered<V>> {
  const store = database.transaction(name).objectStore(name)
  const [ids, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())])
  const known = new Map<string, V>(ids.map((id, index) => [String(id), values[index]]))
  const channel = new BroadcastChannel(`${NAME} ${name}`)
  channel.onmessage = async ({ data: id }: MessageEvent<string>) => {
    const value = await get<V>(database, name, id)
    if (value !== undefined) known.set(id, value)
  }
  return {
    of: (id) => known.get(id),
    put: (id, change) => {
      const next = change(known.get(id))
      if (next === undefined) return
      known.set(id, next)
      // Another tab may have written meanwhile, so apply the change to the stored entry.
      const written = write<V>(database, name, id, (before) => change(before) ?? before)
      void written.then(() => channel.postMessage(id))
    },
  }
}

async function get<V>(database: IDBDatabase, name: StoreName, id: string): Promise<V | undefined> {
  return done(database.transaction(name).objectStore(name).get(id))
}

async function write<V>(
  database: IDBDatabase,
  name: StoreName,
  id: string,
  change: (before: V | undefined) => V | undefined,
): Promise<void> {
  const store = database.transaction(name, 'readwrite').objectStore(name)
  const next = change(await done(store.get(id)))
  if (next === undefined) await done(store.delete(id))
  else await done(store.put(next, id))
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
  return promise
}
