/** Policies of secrets: set with the value that is there, and what a secret was used for, to try one out on. */
import { uploadSecrets } from '../../../../client/actions/set_secrets.ts'
import { provenValues } from '../../../../client/actions/stored_secrets.ts'
import type { Policy } from '../../../../core/policy/policy.ts'
import { summariseCalls } from '../../../../features/audit/contract.ts'
import type { HeldKeys } from '../held.ts'
import { environmentAt, type Place } from '../places.ts'

export const policiesCommands = { set, calls }

/** The fields that narrow. */
export type Narrowing = Omit<Policy, (keyof Policy & (typeof KEPT)[number]) | 'description'>

/** Fields of a policy that describe its value, and those that stay unless they are sent. */
const KEPT = ['sensitive', 'basic_encoding', 'references', 'kind', 'read_only', 'approval'] as const

type Order = Place & {
  narrowing: Narrowing
  description?: string
  /** Who must approve each use, or null for nobody. Each secret keeps its own where this is absent. */
  approval?: NonNullable<Policy['approval']> | null
  /** Names with the versions that the person saw. */
  versions: Record<string, number>
}

/** What else a policy says of its value stays. @throws Unproven, ApiError `conflict` */
async function set(held: HeldKeys, { narrowing, description, approval, versions, ...at }: Order) {
  const place = await environmentAt(held, at)
  const known = await provenValues(place, Object.keys(versions))
  const kept = KEPT.filter((name) => name !== 'approval' || approval === undefined)
  const entries = [...known].map(([key, { value, policy }]) => {
    const said = description ?? policy?.description
    const next: Policy = {
      ...narrowing,
      ...Object.fromEntries(
        kept.flatMap((name) => (policy?.[name] === undefined ? [] : [[name, policy[name]]])),
      ),
      ...(approval ? { approval } : {}),
      ...(said ? { description: said } : {}),
    }
    const isNone = Object.keys(next).length === 0
    return { key, value, policy: isNone ? null : next, expectedVersion: versions[key] }
  })
  await uploadSecrets(place, entries, false)
}

/** Of the last 7 days, counted by where they went. */
async function calls(held: HeldKeys, { workspaceId, projectId, environment, key }: OfSecret) {
  const query = { workspace_id: workspaceId, project_id: projectId, environment, credential: key }
  return held.api.call(summariseCalls, { query })
}

type OfSecret = Place & { key: string }
