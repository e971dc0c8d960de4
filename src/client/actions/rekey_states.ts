/**
 * Derived credentials in a rekey (protocol 13.2): their states are decrypted and sealed again for the next generation.
 * Renewals continue meanwhile, so states are read last, and again if one changed. The server deletes omitted states,
 * and derives these credentials from their roots again.
 */
import { systemTimers } from '../../core/async/timers.ts'
import { fromBase64, toBase64 } from '../../core/crypto/encoding.ts'
import { environmentKey, type SecretPlace } from '../../core/crypto/secret_value.ts'
import type { Policy } from '../../core/policy/policy.ts'
import { deriveStateKey, openState, sealState } from '../../derivation/state.ts'
import { listDerivedStates } from '../../features/secrets/contract.ts'
import type { RekeyBody } from '../../features/workspaces/contract.ts'
import { type Api, ApiError, type CallResult } from '../http/api.ts'
import type { WorkspaceKey } from '../workspace_key.ts'

/** A secret's keys for its state, under the old and the new workspace key. */
export type StateKeys = SecretPlace & { isRoot: boolean; before: Uint8Array; after: Uint8Array }

type SentState = NonNullable<RekeyBody['derived']>[number]
type StoredState = CallResult<typeof listDerivedStates>[number]

const MOST_TRIES = 5
const FIRST_WAIT_MS = 500

export function stateKeysOf(
  before: WorkspaceKey,
  next: WorkspaceKey,
  place: SecretPlace,
  policy: Policy | null,
  plaintext: Uint8Array,
): StateKeys {
  const { projectId, environment } = place
  const keyUnder = ({ key, epoch }: WorkspaceKey) =>
    deriveStateKey(
      environmentKey(key, projectId, environment, epoch),
      plaintext,
      policy?.kind ?? '',
    )
  const isRoot = policy?.kind !== undefined
  return { ...place, isRoot, before: keyUnder(before), after: keyUnder(next) }
}

/**
 * Sends a rekey with all states. Waits up to 8 s for concurrent renewals.
 *
 * @throws ApiError `conflict` when a renewal takes longer
 */
export async function sendWithStates(
  api: Api,
  keys: readonly StateKeys[],
  send: (derived: { derived?: SentState[] }) => Promise<unknown>,
): Promise<void> {
  const byName = new Map(keys.map((each) => [nameOf(each), each]))
  const projects = new Set(keys.map(({ projectId }) => projectId))
  for (let tries = 1; ; tries += 1) {
    const derived = (
      await Promise.all([...projects].map((id) => moveStates(api, id, byName)))
    ).flat()
    try {
      await send(derived.length === 0 ? {} : { derived })
      return
    } catch (error) {
      const mayBeRenewal = derived.length > 0 || keys.some(({ isRoot }) => isRoot)
      const isOvertaken = error instanceof ApiError && error.code === 'conflict'
      if (!isOvertaken || !mayBeRenewal || tries === MOST_TRIES) throw error
      await systemTimers.sleep(FIRST_WAIT_MS * 2 ** (tries - 1))
    }
  }
}

async function moveStates(
  api: Api,
  projectId: string,
  keys: ReadonlyMap<string, StateKeys>,
): Promise<SentState[]> {
  const stored = await api.list(listDerivedStates, { params: { project_id: projectId } })
  return stored.flatMap((state) => moveState(projectId, state, keys) ?? [])
}

/** Null for an unreadable state: it belongs to another root, or was altered. */
function moveState(
  projectId: string,
  { environment, key, generation, state }: StoredState,
  keys: ReadonlyMap<string, StateKeys>,
): SentState | null {
  const place = { projectId, environment, key }
  const found = keys.get(nameOf(place))
  const sealed = fromBase64(state)
  const opened = found && sealed && openState(found.before, { ...place, generation }, sealed)
  if (!opened) return null
  const moved = sealState(found.after, { ...place, generation: generation + 1 }, opened)
  return { project_id: projectId, environment, key, generation, state: toBase64(moved) }
}

function nameOf({ projectId, environment, key }: SecretPlace): string {
  return JSON.stringify([projectId, environment, key])
}
