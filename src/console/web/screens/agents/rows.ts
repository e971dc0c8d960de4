/** Rows of the table: agents, and tokens of containers and CI jobs. */
import type { Input } from '../../keys/messages.ts'
import { texts } from '../../texts/index.ts'
import type { AgentToken, AllAgents } from './place.ts'

const words = texts.agents

const SOON_MS = 7 * 86_400_000

export type AgentState = keyof typeof words.states
export type AgentRow = {
  /** The agent's, or the token's. */
  id: string
  kind: 'agent' | 'workload'
  name: string
  owner: Input<'agents.tokens'>
  /** Null for the whole workspace. */
  project: string | null
  tokens: readonly AgentToken[]
  state: AgentState
  lastUsedAt: string | null
  /** When the last active token ends; null for never. */
  expiresAt: string | null
}

export const isLive = ({ status, fault }: AgentToken) => status === 'active' && !fault

export function stateOf({ status, fault }: AgentToken): AgentState {
  return status === 'active' && fault ? 'rejected' : status
}

function stateOfAll(tokens: readonly AgentToken[]): AgentState {
  const states = tokens.map(stateOf)
  const order = ['active', 'rejected', 'expired', 'revoked'] as const
  return order.find((state) => states.includes(state)) ?? 'none'
}

function endOf(tokens: readonly AgentToken[]): string | null {
  const ends = tokens.filter(isLive).map(({ expiresAt }) => expiresAt)
  return ends.includes(null) ? null : (ends.toSorted().at(-1) ?? null)
}

export function agentRows(workspaceId: string, { agents, projects }: AllAgents): AgentRow[] {
  const ofAgents = agents.map(
    ({ id, name, projectId, project, lastUsedAt, tokens }): AgentRow => ({
      ...{ id, kind: 'agent', name, tokens, lastUsedAt },
      owner: { workspaceId, agentId: id },
      project: projectId === null ? null : (project ?? words.deleted),
      state: stateOfAll(tokens),
      expiresAt: endOf(tokens),
    }),
  )
  const ofJobs = projects.flatMap(({ projectId, project, tokens }) =>
    tokens.map(
      (token): AgentRow => ({
        ...{ id: token.id, kind: 'workload', name: token.label, project, tokens: [token] },
        owner: { workspaceId, projectId },
        state: stateOf(token),
        lastUsedAt: token.lastUsedAt,
        expiresAt: endOf([token]),
      }),
    ),
  )
  return [...sortRows(ofAgents), ...sortRows(ofJobs)]
}

function sortRows(rows: AgentRow[]): AgentRow[] {
  const rankEnded = ({ state }: AgentRow) => (state === 'active' ? 0 : 1)
  return rows.sort(
    (one, other) => rankEnded(one) - rankEnded(other) || one.name.localeCompare(other.name),
  )
}

export const chips = ['all', 'active', 'soon', 'ended'] as const
export type Chip = (typeof chips)[number]

export function isInChip(chip: Chip, { state, expiresAt }: AgentRow): boolean {
  if (chip === 'active') return state === 'active'
  if (chip === 'ended') return state !== 'active'
  if (chip === 'soon')
    return state === 'active' && expiresAt !== null && Date.parse(expiresAt) - Date.now() < SOON_MS
  return true
}

/** The first place of a row's active tokens, and the number of other places. */
export function agentScope({ tokens, project }: AgentRow) {
  const live = tokens.filter(isLive)
  const places = new Map(
    live.map(({ project: own, environment }) => {
      const place = { project: own === undefined ? project : own, environment }
      return [words.inPlace(place.project, environment), place] as const
    }),
  )
  const [first = { project, environment: null }] = places.values()
  return { ...first, more: Math.max(0, places.size - 1) }
}

/** Everything that the active tokens of a row can do. */
export const capabilitiesOf = ({ tokens }: AgentRow) =>
  tokens.filter(isLive).flatMap(({ capabilities }) => capabilities)
