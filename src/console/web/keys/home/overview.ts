/**
 * The overview of a workspace: what needs a person, and what happened in the last 24 hours. Requests, proposals and
 * refused hosts come from the list that the sidebar counts (waiting.ts).
 */
import { readMembers } from '../../../../client/actions/members.ts'
import { readSecretNames } from '../../../../client/actions/secret_names.ts'
import type { CallResult } from '../../../../client/http/api.ts'
import { permits } from '../../../../core/roles.ts'
import { listExpiringTokens, listLostCredentials } from '../../../../features/attention/contract.ts'
import { listAuditLogs, summariseAudit } from '../../../../features/audit/contract.ts'
import { getUsage } from '../../../../features/usage/contract.ts'
import { actions } from '../../../../http/recorder.ts'
import { isRekeyDue } from '../../../../sigchain/index.ts'
import { Refused } from '../failure.ts'
import { placeIn, workspaceOf } from '../places.ts'
import type { UnlockedSession } from '../unlocked_session.ts'
import { tryRead } from './read_part.ts'

export const overviewCommands = { read }

type In = { workspaceId: string }

const LAST_DAY = '24h'
const CHANGES = 8
const WEEK_MS = 7 * 86_400_000
/** The most missing names in the answer. */
const SHOWN_NAMES = 20

async function read(session: UnlockedSession, at: In) {
  const [waiting, activity] = await Promise.all([
    countWaiting(session, at),
    readLastDay(session, at),
  ])
  return { ...waiting, ...activity }
}

async function countWaiting(session: UnlockedSession, at: In) {
  const params = { workspace_id: at.workspaceId }
  const { api } = session
  const [tokens, credentials, missing, people, rekey] = await Promise.all([
    tryRead(() => selectExpiringTokens(session, at)),
    tryRead(() => api.call(listLostCredentials, { params })),
    tryRead(() => listMissingNames(session, at)),
    tryRead(() => listInvitedPeople(session, at)),
    tryRead(() => rekeyDue(session, at)),
  ])
  return { tokens, credentials, missing, invitations: people, rekey }
}

async function readLastDay(session: UnlockedSession, at: In) {
  const { api } = session
  const query = { workspace_id: at.workspaceId }
  const [calls, hours, changes, history] = await Promise.all([
    tryRead(() => api.call(summariseAudit, { query: { ...query, since: LAST_DAY } })),
    tryRead(async () => {
      const params = { workspace_id: at.workspaceId }
      return (await api.call(getUsage, { params, query: { days: 1 } })).hours
    }),
    tryRead(() =>
      api.call(listAuditLogs, { query: { ...query, action: CHANGING, limit: CHANGES } }),
    ),
    tryRead(() => readSignedHistory(session, at)),
  ])
  return { calls, hours, changes, history }
}

const CHANGING = actions.filter((action) => action !== 'secret.read').join(',')

/** Empty for roles that cannot manage tokens: the audit log records a request without the permission. */
async function selectExpiringTokens(session: UnlockedSession, { workspaceId }: In) {
  const { role } = await workspaceOf(session, workspaceId)
  if (!permits(role, 'agent.manage')) return []
  const params = { workspace_id: workspaceId }
  return (await session.api.call(listExpiringTokens, { params })).filter(isEnding)
}

type ExpiringToken = CallResult<typeof listExpiringTokens>[number]

/** A token for a week or less is no warning from its first day on, but in the last seventh of its time. */
function isEnding({ created_at, expires_at }: ExpiringToken): boolean {
  const [from, to] = [Date.parse(created_at), Date.parse(expires_at)]
  return to - from > WEEK_MS || to - Date.now() <= (to - from) / 7
}

/** Names that some environments of a project lack. */
async function listMissingNames({ api }: UnlockedSession, { workspaceId }: In) {
  const projects = await readSecretNames(api, workspaceId)
  return projects.flatMap(({ projectId, project, secrets }) => {
    const names = secrets.flatMap(({ key, missing }) => (missing.length > 0 ? [key] : []))
    if (names.length === 0) return []
    return [{ projectId, project, count: names.length, names: names.slice(0, SHOWN_NAMES) }]
  })
}

async function listInvitedPeople(session: UnlockedSession, { workspaceId }: In) {
  const members = await readMembers(await placeIn(session, workspaceId))
  return members.flatMap(({ user_id, email, role, status }) =>
    status === 'invited' ? [{ userId: user_id, email, role }] : [],
  )
}

async function rekeyDue(session: UnlockedSession, { workspaceId }: In): Promise<boolean> {
  const entry = await workspaceOf(session, workspaceId)
  const chain = await entry.chain()
  return entry.rekey_required || (chain !== null && isRekeyDue(chain))
}

/** Every link is verified as it is read; `history.verify` compares the server's lists too. */
async function readSignedHistory(session: UnlockedSession, { workspaceId }: In) {
  const began = performance.now()
  const chain = await (await workspaceOf(session, workspaceId)).newestChain()
  if (chain === null) throw new Refused('not_signed')
  const { seq: links, epoch, members } = chain
  return { links, epoch, members: members.size, ms: Math.round(performance.now() - began) }
}
