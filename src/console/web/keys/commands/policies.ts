/** Changes policies together with the stored values, and reads the calls and tokens that they affect. */
import { uploadSecrets } from '../../../../client/actions/set_secrets.ts'
import { readProvenValues } from '../../../../client/actions/stored_secrets.ts'
import type { Policy } from '../../../../core/policy/policy.ts'
import { summariseCalls } from '../../../../features/audit/contract.ts'
import { environmentAt, type Place } from '../places.ts'
import { tokensInScope } from '../tokens.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

export const policiesCommands = { set, calls, tokens: tokensInScope }

/** An absent field stays. Null removes a field. */
export type PolicyChange = { [name in Exclude<keyof Policy, 'kind'>]?: Policy[name] | null }

type Order = Place & {
  change: PolicyChange
  /** Names with the versions that the person saw. */
  versions: Record<string, number>
}

/** @throws Unproven, ApiError `conflict` */
async function set(session: UnlockedSession, { change, versions, ...at }: Order) {
  const place = await environmentAt(session, at)
  const known = await readProvenValues(place, Object.keys(versions))
  const entries = [...known].map(([key, { value, policy }]) => {
    const fields = Object.entries({ ...policy, ...change }).filter(
      ([, field]) => field !== null && field !== undefined,
    )
    const next = fields.length === 0 ? null : (Object.fromEntries(fields) as Policy)
    return { key, value, policy: next, expectedVersion: versions[key] }
  })
  await uploadSecrets(place, entries, false)
}

/** Calls of the last 7 days, counted by their target. */
async function calls(
  session: UnlockedSession,
  { workspaceId, projectId, environment, key }: OfSecret,
) {
  const query = { workspace_id: workspaceId, project_id: projectId, environment, credential: key }
  return session.api.call(summariseCalls, { query })
}

type OfSecret = Place & { key: string }
