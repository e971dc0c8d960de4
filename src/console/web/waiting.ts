/** Items that wait for a user in a workspace: one list for the screen, the overview and the sidebar's badge. */
import { useMemo } from 'react'
import type { Returned } from './keys/messages.ts'
import { useManages } from './manages.ts'
import { useRepeatedAsk } from './queries.ts'
import { createShared } from './shared.ts'

type Approvals = Returned<'approvals.waiting'>
export type WaitingRequest = Approvals['requests'][number]
export type ReleasedUse = Approvals['released'][number]
export type Proposal = Approvals['proposals'][number]
export type WaitingHost = Returned<'live.refused'>[number]

/** `id` names it in an address; `ignoredAs` changes when it happens again. */
export type WaitingItem = { id: string; ignoredAs: string } & (
  | { kind: 'request'; request: WaitingRequest }
  | { kind: 'host'; refused: WaitingHost }
  | { kind: 'proposal'; proposal: Proposal }
)

export type Waiting = {
  items: readonly WaitingItem[]
  released: readonly ReleasedUse[]
  /** Requests that do not verify. */
  hidden: number
  /** Requests that are not read yet. */
  more: number
}

/** Commands whose results a decision changes. */
export const DECIDED = ['approvals.waiting', 'approvals.status', 'live.refused'] as const

const EVERY_MS = 15_000
/** Reads up to 500 records, and the screen of live requests asks again when a call is refused. */
const HOSTS_EVERY_MS = 60_000

/** Refused hosts wait only for those who can allow them. `isRead` is false until all of it was read or failed. */
export function useWaiting(workspaceId: string, everyMs = EVERY_MS) {
  const { data: approvals, error } = useRepeatedAsk('approvals.waiting', { workspaceId }, everyMs)
  const manages = useManages(workspaceId)
  const { data: hosts, error: failed } = useRepeatedAsk(
    'live.refused',
    { workspaceId },
    HOSTS_EVERY_MS,
    manages === true,
  )
  const ignored = ignoredIds.useValue()
  const waiting = useMemo(
    () => approvals && listWaiting(approvals, hosts ?? [], ignored),
    [approvals, hosts, ignored],
  )
  const isHostsRead = manages === false || Boolean(hosts ?? failed)
  const isRead = Boolean(approvals ?? error) && isHostsRead
  return { waiting: waiting ?? null, error, isRead }
}

function listWaiting(
  { requests, proposals, released, hidden, more }: Approvals,
  hosts: readonly WaitingHost[],
  ignored: readonly string[],
): Waiting {
  const items = [
    ...requests.map((request) => itemOf('request', request.id, request.id, { request })),
    ...hosts.map((refused) =>
      itemOf('host', hostId(refused.agent, refused.host), refused.newest.id, { refused }),
    ),
    ...proposals.map((proposal) => itemOf('proposal', proposal.id, proposal.id, { proposal })),
  ] as WaitingItem[]
  const shown = items.filter(({ ignoredAs }) => !ignored.includes(ignoredAs))
  return { items: shown, released, hidden, more }
}

function itemOf(kind: WaitingItem['kind'], id: string, ignoredAs: string, rest: object) {
  return { kind, id: `${kind}.${id}`, ignoredAs, ...rest }
}

/** A refused host's ID in an address, without its prefix. */
export const hostId = (agent: string, host: string) => `${agent}.${host}`

const KEY = 'ignored'
const MAX_IGNORED = 200
/** Only IDs are kept: names of hosts do not stay in this browser. */
const ignoredIds = createShared<readonly string[]>(readIgnored())

function readIgnored(): string[] {
  return (localStorage.getItem(KEY) ?? '').split(' ').filter(Boolean)
}

/** Whether an item was ignored. A paused list still shows it. */
export function useIsIgnored({ ignoredAs }: WaitingItem): boolean {
  return ignoredIds.useValue().includes(ignoredAs)
}

/** Hides an item until it happens again. Returns a function that shows it again. */
export function ignore({ ignoredAs }: WaitingItem): () => void {
  keepIgnored([...ignoredIds.get(), ignoredAs].slice(-MAX_IGNORED))
  return () => keepIgnored(ignoredIds.get().filter((id) => id !== ignoredAs))
}

function keepIgnored(ids: readonly string[]): void {
  localStorage.setItem(KEY, ids.join(' '))
  ignoredIds.set(ids)
}
