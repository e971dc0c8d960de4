/** A draft of a new token, and the order made from it. */

import { limitNames, UNLIMITED } from '../../../../../core/token_limits.ts'
import type { Input } from '../../../keys/messages.ts'
import type { texts } from '../../../texts/index.ts'
import type { LimitName } from '../limits.ts'
import { MEGABYTE } from '../limits.ts'
import type { AllAgents } from '../place.ts'

type Words = typeof texts.wizard

/** A new agent, or one that gets a further token. */
export type TokenHolder =
  | { kind: 'new' }
  | { kind: 'agent'; agent: Pick<AllAgents['agents'][number], 'id' | 'name' | 'projectId'> }

/** The created token, without its text. */
export type MadeToken = {
  id: string
  kind: TokenDraft['kind']
  name: string
  may: readonly string[]
  project: string | null
  environment: string | null
}

export type ProjectChoice = { id: string; name: string }

/** The choice of every project or environment. */
export const ALL = '*'

const USUAL_ENVIRONMENT = 'development'

export type TokenDraft = {
  kind: 'agent' | 'workload'
  name: string
  label: string
  projectId: string
  /** Null for the usual one of the project. */
  environment: string | null
  may: keyof Words['may']
  days: keyof Words['lengths']
  /** As typed; empty for no limit. */
  limits: Record<LimitName, string>
}

export type DraftProps = { draft: TokenDraft; change(changed: Partial<TokenDraft>): void }

export function draftFor(holder: TokenHolder, projects: readonly ProjectChoice[]): TokenDraft {
  const own = holder.kind === 'agent' ? (holder.agent.projectId ?? ALL) : undefined
  const none = limitNames.map((name) => [name, ''])
  return {
    kind: 'agent',
    name: holder.kind === 'agent' ? holder.agent.name : '',
    label: '',
    projectId: own ?? projects[0]?.id ?? ALL,
    environment: null,
    may: 'use',
    days: '90',
    limits: Object.fromEntries(none) as TokenDraft['limits'],
  }
}

/** Development, if the project has it. Empty until the names are read. */
export function draftEnvironment({ environment }: TokenDraft, names: readonly string[]): string {
  if (environment !== null && (environment === ALL || names.includes(environment)))
    return environment
  return names.includes(USUAL_ENVIRONMENT) ? USUAL_ENVIRONMENT : (names[0] ?? '')
}

type Order = Input<'agents.issue'>

export function mayOf({ may }: TokenDraft): Order['capabilities'] {
  return may.split(',') as Order['capabilities']
}

export function isLimit(text: string): boolean {
  return text.trim() === '' || (/^\d{1,12}$/.test(text.trim()) && Number(text) > 0)
}

/** Undefined without limits. */
function limitsOf({ limits, may }: TokenDraft): Pick<Order, 'limits'> {
  const given = limitNames.filter((name) => limits[name].trim() !== '')
  if (given.length === 0 || may !== 'use') return {}
  const amounts = given.map((name) => {
    const typed = Number(limits[name])
    return [name, name === 'bytes_per_day' ? typed * MEGABYTE : typed]
  })
  return { limits: { ...UNLIMITED, ...Object.fromEntries(amounts) } }
}

const orNull = (id: string) => (id === ALL ? null : id)

export function tokenOrderOf(
  workspaceId: string,
  holder: TokenHolder,
  draft: TokenDraft & { environment: string },
): Order {
  const { name, label, days } = draft
  const environment = orNull(draft.environment)
  const projectId = orNull(draft.projectId)
  const terms = {
    workspaceId,
    capabilities: mayOf(draft),
    days: days === 'never' ? null : Number(days),
    ...limitsOf(draft),
  }
  if (holder.kind === 'agent') {
    const { id: agentId } = holder.agent
    return { ...terms, label, holder: { kind: 'further', agentId, projectId, environment } }
  }
  if (draft.kind === 'workload') {
    const place = { projectId: draft.projectId, environment: draft.environment }
    return { ...terms, holder: { kind: 'workload', label: name, ...place } }
  }
  return { ...terms, holder: { kind: 'agent', name, projectId, environment } }
}
