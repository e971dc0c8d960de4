/** Everything that waits for a person, as rows with one action each. */
import type { LinkProps } from '@tanstack/react-router'
import {
  CalendarClock,
  CircleDashed,
  Globe,
  Lightbulb,
  type LucideIcon,
  RefreshCw,
  ShieldQuestion,
  Unplug,
  UserPlus,
} from 'lucide-react'
import type { Returned } from '../../keys/messages.ts'
import { texts } from '../../texts/index.ts'
import type { WaitingItem } from '../../waiting.ts'
import { describeItem } from '../waiting/describe.ts'

const words = texts.overview

export type OverviewData = Returned<'overview.read'>

export type AttentionRow = {
  id: string
  icon: LucideIcon
  title: string
  detail: string
  action: string
  link: Pick<LinkProps, 'to' | 'params' | 'search'>
}

const ICONS = { request: ShieldQuestion, host: Globe, proposal: Lightbulb }

export function listAttention(
  workspaceId: string,
  items: readonly WaitingItem[],
  overview: OverviewData,
): AttentionRow[] {
  const params = { workspaceId }
  return [
    ...groupByHost(items).map((group) => itemRow(group, params)),
    ...(overview.rekey.data ? [rekeyRow(params)] : []),
    ...buildLostRows(overview, params),
    ...tokenRows(overview, params),
    ...buildMissingRows(overview, params),
    ...invitationRows(overview, params),
  ]
}

type Params = { workspaceId: string }

type Group = [WaitingItem, ...WaitingItem[]]

/** A host that was refused to several agents is one row. */
function groupByHost(items: readonly WaitingItem[]): Group[] {
  const groups = new Map<string, Group>()
  for (const item of items) {
    const name = item.kind === 'host' ? `host ${item.refused.host}` : item.id
    const group = groups.get(name)
    if (group) group.push(item)
    else groups.set(name, [item])
  }
  return [...groups.values()]
}

function itemRow(group: Group, params: Params): AttentionRow {
  const [item] = group
  const { title, facts: ofOne } = describeItem(item)
  const facts = group.length === 1 ? ofOne : [words.agents(group.length)]
  return {
    ...{ id: item.id, icon: ICONS[item.kind], title },
    detail: [words.kinds[item.kind], ...facts.filter(Boolean)].join(' · '),
    action: texts.waiting.review,
    link: { to: '/w/$workspaceId/live', params, search: { open: item.id } },
  }
}

function rekeyRow(params: Params): AttentionRow {
  return {
    ...{ id: 'rekey', icon: RefreshCw, title: words.rekey, detail: words.rekeyHelp },
    action: words.openMembers,
    link: { to: '/w/$workspaceId/members', params },
  }
}

function buildLostRows({ credentials }: OverviewData, params: Params): AttentionRow[] {
  return (credentials.data ?? []).map(({ project_id: project, environment, key }) => ({
    ...{ id: `lost ${project} ${environment} ${key}`, icon: Unplug, title: key },
    detail: words.reconnectHelp(environment),
    action: words.reconnect,
    link: { to: '/w/$workspaceId/secrets', params, search: { project, environment, key } },
  }))
}

function tokenRows({ tokens }: OverviewData, params: Params): AttentionRow[] {
  return (tokens.data ?? []).map(({ id, label, agent_name: agent, expires_at: at }) => ({
    ...{ id, icon: CalendarClock, title: words.token(agent, label) },
    detail: words.ends(at),
    action: words.openAgents,
    link: { to: '/w/$workspaceId/agents', params },
  }))
}

function buildMissingRows({ missing }: OverviewData, params: Params): AttentionRow[] {
  return (missing.data ?? []).map(({ projectId: project, project: name, count, names }) => ({
    ...{ id: `missing ${project}`, icon: CircleDashed, title: words.missing(count, name) },
    detail: names.join(', '),
    action: words.addSecrets,
    link: { to: '/w/$workspaceId/secrets', params, search: { project } },
  }))
}

function invitationRows({ invitations }: OverviewData, params: Params): AttentionRow[] {
  return (invitations.data ?? []).map(({ userId, email, role }) => ({
    ...{ id: userId, icon: UserPlus, title: email },
    detail: words.invited(texts.members.roles[role]),
    action: words.openMembers,
    link: { to: '/w/$workspaceId/members', params },
  }))
}

/** Parts that could not be read. What a role may not see is left out silently. */
export function listUnreadParts(overview: OverviewData): { part: string; code: string }[] {
  const quiet = ['forbidden', 'not_signed']
  return Object.entries(overview).flatMap(([part, { why }]) =>
    why === null || quiet.includes(why) ? [] : [{ part, code: why }],
  )
}
