/** A token as it is put together, and the order that comes of it. */
import type { Input, Returned } from '../../keys/messages.ts'
import type { texts } from '../../texts/index.ts'

type Words = typeof texts.wizard

/** Somebody new, or an agent that is there. */
export type For =
  | { kind: 'new' }
  | {
      kind: 'agent'
      agent: Pick<Returned<'agents.list'>[number], 'id' | 'name' | 'projectId' | 'project'>
    }

/** What was made, without the token itself. */
export type MadeToken = {
  id: string
  kind: TokenDraft['kind']
  name: string
  may: readonly string[]
} & {
  project: string | null
  environment: string | null
}

export type ProjectChoice = { id: string; name: string }

/** Stands for every project or environment in a list of choices. */
export const ALL = '*'

type May = keyof Words['may']
type Days = keyof Words['lengths']

export type TokenDraft = {
  kind: 'agent' | 'workload'
  name: string
  label: string
  projectId: string
  environment: string
  may: May
  days: Days
}

export function draftFor(given: For, projects: readonly ProjectChoice[]): TokenDraft {
  const own = given.kind === 'agent' ? (given.agent.projectId ?? ALL) : undefined
  return {
    kind: 'agent',
    name: given.kind === 'agent' ? given.agent.name : '',
    label: '',
    projectId: own ?? projects[0]?.id ?? ALL,
    environment: '',
    may: 'use',
    days: '90',
  }
}

type Order = Input<'agents.issue'>

export function mayOf({ may }: TokenDraft): Order['capabilities'] {
  return may.split(',') as Order['capabilities']
}

export function tokenOrderOf(workspaceId: string, given: For, draft: TokenDraft): Order {
  const { name, label, days } = draft
  const environment = draft.environment === ALL ? null : draft.environment
  const projectId = draft.projectId === ALL ? null : draft.projectId
  const terms = {
    workspaceId,
    capabilities: mayOf(draft),
    days: days === 'never' ? null : Number(days),
  }
  if (given.kind === 'agent') {
    const { id: agentId } = given.agent
    return { ...terms, label, holder: { kind: 'further', agentId, projectId, environment } }
  }
  if (draft.kind === 'workload') {
    const place = { projectId: draft.projectId, environment: draft.environment }
    return { ...terms, holder: { kind: 'workload', label: name, ...place } }
  }
  return { ...terms, holder: { kind: 'agent', name, projectId, environment } }
}
