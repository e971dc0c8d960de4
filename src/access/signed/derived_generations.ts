/**
 * The newest generation that this process saw of each derived credential, in a temporary file: a
 * database cannot go back to an older state. A missing row counts as no state, and a later row starts above it.
 */
import type { SealedSecret } from '../../core/crypto/secret_value.ts'
import { Refusal } from '../../sigchain/index.ts'
import { type Snapshot, StaleSnapshot } from '../snapshots/snapshot.ts'
import { formatSeenName, SeenStates } from './seen_states.ts'

export class DerivedGenerations {
  #seen: SeenStates | undefined

  /** @throws Refusal for an older generation, StaleSnapshot for a read that a newer one overtook */
  requireNewest({ workspaceId, policyVersion }: Snapshot, secrets: readonly SealedSecret[]): void {
    for (const { derived, key, ...place } of secrets) {
      if (!derived) continue
      const { generation } = derived
      const name = `${formatSeenName(workspaceId, place)}/${key}`
      this.#seen ??= new SeenStates()
      const seen = this.#seen.get(name)
      if (seen && generation < seen.number) {
        // Each generation raises the policy version.
        if (policyVersion < seen.head) throw new StaleSnapshot()
        throw new Refusal('revision', undefined, `the derived state of ${key}`)
      }
      if (generation > (seen?.number ?? 0))
        this.#seen.see(name, { number: generation, hash: '', head: policyVersion })
    }
  }
}
