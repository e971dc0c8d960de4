/**
 * What this browser remembers beyond a page, in IndexedDB: what was seen of chains and of keys of workspaces (hashes,
 * numbers, names: nothing secret), and the sealed seed of who chose to stay unlocked. Several tabs share it.
 */
import type { NameLists } from '../../../client/known_names.ts'
import type { KnownEntry } from '../../../client/signed/known_chains.ts'
import type { KnownKey } from '../../../client/workspace_key.ts'

/** Read at the start, with what other tabs wrote since. */
type Remembered<V> = {
  of(id: string): V | undefined
  /** Asks `change` with what is there; nothing is written where it returns undefined. */
  put(id: string, change: (before: V | undefined) => V | undefined): void
}

/** A seed under a key that no script can read, and that the browser keeps. */
export type StayingKey = {
  key: CryptoKey
  nonce: Uint8Array<ArrayBuffer>
  sealed: ArrayBuffer
  /** Of who it is: the server says so too, and both must be the same. */
  email: string
  /** Milliseconds since 1970. */
  until: number
  /** The latest time at which somebody worked: an earlier one now is a clock that was put back. */
  seen: number
}

export type BrowserMemory = {
  chains: Remembered<KnownEntry>
  workspaceKeys: Remembered<KnownKey>
  /** Of each user, what names stood for. */
  names: Remembered<NameLists>
  staying(userId: string): Promise<StayingKey | undefined>
  /** Undefined takes it away. */
  stay(userId: string, staying: StayingKey | undefined): Promise<void>
  /** Of anybody: a profile has one session, and with it they end. Whether there were any. */
  stayNobody(): Promise<boolean>
  /** Somebody works. */
  touch(userId: string): Promise<void>
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
    staying: (userId) => get<StayingKey>(database, 'staying', userId),
    stay: (userId, staying) => write(database, 'staying', userId, () => staying),
    stayNobody: async () => {
      const store = database.transaction('staying', 'readwrite').objectStore('staying')
      const kept = await done(store.count())
      await done(store.clear())
      return kept > 0
    },
    touch: (userId) =>
      write<StayingKey>(database, 'staying', userId, (kept) =>
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

/** Milliseconds by which a clock is set right now and then. */
const CLOCK_SLACK_MS = 5 * 60_000

/** Of anybody who stayed unlocked here, and by either clock. */
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
      // Another tab may know more by now: the change is made to what is there.
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
