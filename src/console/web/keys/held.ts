/** What the worker holds, and for how long. */
import type { AccountKeys } from '../../../client/account/account_keys.ts'
import type { Api } from '../../../client/http/api.ts'
import { knownChains } from '../../../client/signed/known_chains.ts'
import { inWords } from '../../../client/signed/link_in_words.ts'
import { chainsOf, hashInGroups, type Trust } from '../../../client/signed/trust.ts'
import { keyFingerprint, knownKeyOf, knownWorkspaceKeys } from '../../../client/workspace_key.ts'
import type { Reader } from '../../../client/workspaces.ts'
import { identityOf } from '../../../sigchain/index.ts'
import { sessionCalls } from '../session.ts'
import { Refused } from './failure.ts'
import { type Memory, openMemory } from './memory.ts'
import type { AccountState, Notice } from './messages.ts'
import { Names } from './names.ts'

export type Person = { userId: string; email: string }

export type Held = {
  /** Calls of this session. */
  api: Api
  memory: Memory
  /** What names stood for, for who works here. */
  names: Names
  /** Who works here, with their keys, and what they know of their workspaces. @throws Refused `locked` */
  reader(): Reader & Person & AccountKeys
  /** In the place of what was held; without a time it locks when nobody works for a while. */
  open(person: Person, keys: AccountKeys, until?: number): void
  /** Forgets the keys; the session of the person goes on. */
  lock(person?: Person): void
  /** Forgets all of it. */
  clear(): void
  state(): AccountState
  /** Somebody works: the time until it locks begins anew. */
  stir(): void
}

/** Until it locks, without a command of a person. */
const IDLE_MS = 15 * 60_000
/** What a timer can count. */
const LONGEST_MS = 2_147_483_647

type Open = Reader & Person & AccountKeys & { until: number | null }

export async function openHeld(
  changed: (state: AccountState) => void,
  notify: (notice: Notice) => void,
): Promise<Held> {
  const memory = await openMemory()
  let person: Person | null = null
  let open: Open | null = null
  let isEnded = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const state = (): AccountState => {
    if (person === null) return { kind: 'out', isEnded }
    if (open === null) return { kind: 'locked', email: person.email }
    return { kind: 'open', ...person, until: open.until }
  }
  const forget = () => {
    clearTimeout(timer)
    open?.privateKey.fill(0)
    open?.seed?.fill(0)
    open = null
  }
  const become = (next: Person | null, ended = false) => {
    forget()
    isEnded = ended
    person = next
    changed(state())
  }
  const stir = () => {
    clearTimeout(timer)
    if (!open) return
    const left = open.until === null ? IDLE_MS : Math.min(open.until - Date.now(), LONGEST_MS)
    timer = setTimeout(() => become(person), left)
  }
  const names = new Names(memory, () => open?.userId ?? null, notify)
  const api = names.over(sessionCalls(() => become(null, isEnded || person !== null)))
  return {
    api,
    memory,
    names,
    reader: () => {
      if (open) return open
      throw new Refused('locked')
    },
    open: (next, keys, until) => {
      forget()
      isEnded = false
      person = next
      const identity = () => identityFor(keys)
      names.reset()
      const trust = trustOf(api, memory, next, notify)
      open = { ...next, ...keys, api, trust, identity, until: until ?? null }
      changed(state())
      stir()
    },
    lock: (next) => become(next ?? person),
    clear: () => become(null),
    state,
    stir,
  }
}

/** @throws Refused for an account that cannot sign */
async function identityFor({ seed }: AccountKeys) {
  if (seed !== null) return identityOf(seed)
  throw new Refused('no_signing_key')
}

/** Changes of people and their keys, of which somebody should hear whoever signed them. */
const ABOUT_PEOPLE = new Set(['members.put', 'members.removed', 'keys.rotated'])

function trustOf(
  api: Api,
  memory: Memory,
  { userId }: Person,
  notify: (notice: Notice) => void,
): Trust {
  const { workspaceKeys: kept } = memory
  const keyOf = (workspaceId: string) => `${userId} ${workspaceId}`
  const workspaceKeys = knownWorkspaceKeys(
    { of: (id) => kept.of(keyOf(id)), put: (id, change) => kept.put(keyOf(id), change) },
    ({ epoch, ...workspace }) => notify({ ...about(workspace), kind: 'rekeyed', epoch }),
  )
  const chains = chainsOf(api, knownChains(memory.chains), {
    met: (workspace, first) =>
      notify({ ...about(workspace), kind: 'met', fingerprint: hashInGroups(first) }),
    rekeyed: (workspace, epoch) => notify({ ...about(workspace), kind: 'rekeyed', epoch }),
    went: (workspace, links, before, seq) => {
      const told = inWords(links, before)
      const changes = told.filter((each, at) => {
        return each.seq > seq && ABOUT_PEOPLE.has(links[at]?.type ?? '')
      })
      if (changes.length > 0) notify({ ...about(workspace), kind: 'people', changes })
    },
  })
  const metPlain: Trust['metPlain'] = async (workspace) => {
    const fingerprint = await keyFingerprint(knownKeyOf(workspace))
    notify({ ...about(workspace), kind: 'plain', fingerprint })
  }
  return { chains, workspaceKeys, metPlain }
}

function about({ id, name }: { id: string; name: string }) {
  return { workspaceId: id, workspace: name }
}
