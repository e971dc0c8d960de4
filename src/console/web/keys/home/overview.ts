/**
 * The overview of a workspace: what needs a person, and what happened in the last 24 hours. Requests, proposals and
 * refused hosts come from the list that the sidebar counts (waiting.ts).
 */
import { readMembers } from '../../../../client/actions/members.ts'
import { readSecretNames } from '../../../../client/actions/secret_names.ts'
import { listExpiringTokens, listLostCredentials } from '../../../../features/attention/contract.ts'
import { listAuditLogs, summariseAudit } from '../../../../features/audit/contract.ts'
import { getUsage } from '../../../../features/usage/contract.ts'
import { actions } from '../../../../http/recorder.ts'
import { isRekeyDue } from '../../../../sigchain/index.ts'
import { Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import { placeIn, workspaceOf } from '../places.ts'
import { tryRead } from './read_part.ts'

export const overviewCommands = { read }

type In = { workspaceId: string }

const LAST_DAY = '24h'
const CHANGES = 8
/** Names that are shown of what is missing. */
const SHOWN_NAMES = 20

async function read(held: HeldKeys, at: In) {
  const [waiting, activity] = await Promise.all([waitingFor(held, at), lastDay(held, at)])
  return { ...waiting, ...activity }
}

async function waitingFor(held: HeldKeys, at: In) {
  const params = { workspace_id: at.workspaceId }
  const { api } = held
  const [tokens, credentials, missing, people, rekey] = await Promise.all([
    tryRead(() => api.call(listExpiringTokens, { params })),
    tryRead(() => api.call(listLostCredentials, { params })),
    tryRead(() => missingNames(held, at)),
    tryRead(() => invitedPeople(held, at)),
    tryRead(() => rekeyDue(held, at)),
  ])
  return { tokens, credentials, missing, invitations: people, rekey }
}

async function lastDay(held: HeldKeys, at: In) {
  const { api } = held
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
    tryRead(() => signedHistory(held, at)),
  ])
  return { calls, hours, changes, history }
}

const CHANGING = actions.filter((action) => action !== 'secret.read').join(',')

/** Names that some environments of a project have and others have not. */
async function missingNames({ api }: HeldKeys, { workspaceId }: In) {
  const projects = await readSecretNames(api, workspaceId)
  return projects.flatMap(({ projectId, project, secrets }) => {
    const names = secrets.flatMap(({ key, missing }) => (missing.length > 0 ? [key] : []))
    if (names.length === 0) return []
    return [{ projectId, project, count: names.length, names: names.slice(0, SHOWN_NAMES) }]
  })
}

async function invitedPeople(held: HeldKeys, { workspaceId }: In) {
  const members = await readMembers(await placeIn(held, workspaceId))
  return members.flatMap(({ user_id, email, role, status }) =>
    status === 'invited' ? [{ userId: user_id, email, role }] : [],
  )
}

async function rekeyDue(held: HeldKeys, { workspaceId }: In): Promise<boolean> {
  const entry = await workspaceOf(held, workspaceId)
  const chain = await entry.chain()
  return entry.rekey_required || (chain !== null && isRekeyDue(chain))
}

/** Every link is verified as it is read; `history.verify` compares the server's lists too. */
async function signedHistory(held: HeldKeys, { workspaceId }: In) {
  const began = performance.now()
  const chain = await (await workspaceOf(held, workspaceId)).newestChain()
  if (chain === null) throw new Refused('not_signed')
  const { seq: links, epoch, members } = chain
  return { links, epoch, members: members.size, ms: Math.round(performance.now() - began) }
}
