/** A workspace's things as entries of the palette, each with the address that opens it. */
import { Bot, Globe, KeyRound, ScrollText, UserRound } from 'lucide-react'
import type { Returned } from '../../keys/messages.ts'
import { texts } from '../../texts/index.ts'
import type { Address, PaletteEntry, PaletteGroup } from './entry.ts'
import { findMatches } from './match.ts'

const words = texts.palette
/** The most entries of a kind. Typing more narrows the results. */
const MOST = 8

export type Things = Returned<'search.things'>

/** Entries are made once for each answer of the worker. */
export function thingEntries(things: Things): PaletteGroup[] {
  return [
    { id: 'secrets', title: words.secrets, entries: (things.secrets.data ?? []).map(secretEntry) },
    { id: 'agents', title: words.agents, entries: (things.agents.data ?? []).map(agentEntry) },
    { id: 'hosts', title: words.hosts, entries: (things.hosts.data ?? []).map(hostEntry) },
    { id: 'people', title: words.people, entries: (things.people.data ?? []).map(personEntry) },
  ]
}

type Secret = NonNullable<Things['secrets']['data']>[number]

function secretEntry({ projectId, project, key, environments }: Secret): PaletteEntry {
  const open = (parts: readonly string[]): Address => {
    const named = environments.find((name) => parts.some((part) => name.includes(part)))
    const environment = named ?? environments[0]
    return {
      to: '/w/$workspaceId/secrets',
      search: { project, key, ...(environment === undefined ? {} : { environment }) },
    }
  }
  const hint = [project, environments.join(', ')].filter(Boolean).join(' · ')
  const calls = { credential: key }
  return {
    id: `secret ${projectId} ${key}`,
    label: key,
    hint,
    icon: KeyRound,
    isMono: true,
    open,
    calls,
  }
}

function agentEntry({
  id,
  name,
  project,
}: NonNullable<Things['agents']['data']>[number]): PaletteEntry {
  const open = (): Address => ({ to: '/w/$workspaceId/agents', search: { show: id } })
  const hint = project ?? words.wholeWorkspace
  return { id: `agent ${id}`, label: name, hint, icon: Bot, open, calls: { actor: name } }
}

function hostEntry(host: string): PaletteEntry {
  const open = (): Address => ({ to: '/w/$workspaceId/allowlist', search: { host } })
  return {
    id: `host ${host}`,
    label: host,
    icon: Globe,
    isMono: true,
    open,
    calls: { domain: host },
  }
}

function personEntry({
  userId,
  email,
  name,
}: NonNullable<Things['people']['data']>[number]): PaletteEntry {
  const open = (): Address => ({ to: '/w/$workspaceId/members', search: { member: userId } })
  return { id: `person ${userId}`, label: email, hint: name, icon: UserRound, open }
}

/** Matching entries, with the calls of the best ones. */
export function findThings(
  groups: readonly PaletteGroup[],
  parts: readonly string[],
): PaletteGroup[] {
  const found = groups.map(({ entries, ...group }) => {
    const { found: best, count } = findMatches(entries, parts, MOST)
    return { ...group, entries: best, count }
  })
  const called = found.flatMap(({ entries }) => entries.slice(0, 1)).filter(({ calls }) => calls)
  return [...found, { id: 'calls', title: words.calls, entries: called.map(callsEntry) }]
}

function callsEntry({ id, label, calls = {} }: PaletteEntry): PaletteEntry {
  const open = (): Address => ({ to: '/w/$workspaceId/audit', search: calls })
  return { id: `calls ${id}`, label: words.callsWith(label), icon: ScrollText, open }
}
