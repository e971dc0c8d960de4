/** Every action that a record can have: in words, and how it ended. */
import { texts } from '../../texts/index.ts'
import type { ListedRecord, RecordGroup } from './groups.ts'

const words = texts.audit

export type KnownAction = keyof typeof words.actions

/** A signed change cannot be forged by the server. Others are done by it alone. */
const results: Record<KnownAction, keyof typeof words.results> = {
  'allowlist.added': 'signed',
  'allowlist.removed': 'signed',
  'workspace.created': 'signed',
  'workspace.renamed': 'done',
  'workspace.deleted': 'signed',
  'workspace.rekeyed': 'signed',
  'workspace.ownership_transferred': 'signed',
  'member.invited': 'signed',
  'member.accepted': 'done',
  'member.declined': 'done',
  'member.role_changed': 'signed',
  'member.removed': 'signed',
  'member.left': 'signed',
  'member.keys_rotated': 'signed',
  'project.created': 'done',
  'project.updated': 'done',
  'project.deleted': 'done',
  'project.restored': 'done',
  'secret.created': 'signed',
  'secret.updated': 'signed',
  'secret.deleted': 'signed',
  'secret.restored': 'signed',
  'secret.rolled_back': 'signed',
  'secret.read': 'read',
  'environment.created': 'done',
  'environment.deleted': 'done',
  'agent.created': 'done',
  'agent.deleted': 'done',
  'approval.requested': 'done',
  'approval.released': 'signed',
  'approval.denied': 'done',
  'approval.revoked': 'done',
  'proposal.created': 'done',
  'proposal.closed': 'done',
  'notice_target.created': 'done',
  'notice_target.deleted': 'done',
  'token.issued': 'signed',
  'token.revoked': 'done',
  'token.granted': 'signed',
  'token.provisioned': 'done',
  'token.grant_removed': 'done',
  'credentials.read': 'read',
  'credentials.listed': 'read',
  'credential.derived': 'done',
  'domains.listed': 'read',
  'shapes.read': 'read',
  'links.read': 'read',
  'audit.reported': 'done',
  'access.denied': 'done',
}

const isKnown = (action: string): action is KnownAction => action in results

export const knownActions = Object.keys(results).filter(isKnown)

/** Names of several actions that are looked for together. */
export const actionGroups = {
  changes: knownActions.filter((action) => results[action] !== 'read'),
  reads: knownActions.filter((action) => results[action] === 'read'),
} as const

export const isActionGroup = (name: string): name is keyof typeof actionGroups =>
  name in actionGroups

export function actionText(action: string, count = 1): string {
  if (isActionGroup(action)) return words.groups[action]
  if (!isKnown(action)) return words.otherAction
  const { one, many = one }: { one: string; many?: string } = words.actions[action]
  return count > 1 ? many : one
}

/** One record of a read can name several secrets. */
function namesIn(records: readonly ListedRecord[]): number {
  const names = records.flatMap(({ credential_ref }) => credential_ref?.split(',') ?? [''])
  return names.length
}

/** The action in words, or the method of a call. */
export function whatOf({ records: [first, ...others] }: RecordGroup): string {
  return first.action === null
    ? (first.method ?? '')
    : actionText(first.action, namesIn([first, ...others]))
}

type Result = { text: string; tone: 'green' | 'amber' | 'red' | 'neutral' }

/** The result of an event that is not a call. */
export function resultOf({ action, decision }: ListedRecord): Result {
  if (decision === 'blocked') return { text: words.decisions.blocked, tone: 'red' }
  if (decision === 'error') return { text: words.decisions.error, tone: 'amber' }
  const result = action !== null && isKnown(action) ? results[action] : 'done'
  return { text: words.results[result], tone: result === 'read' ? 'green' : 'neutral' }
}
