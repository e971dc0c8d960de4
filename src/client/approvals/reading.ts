/** The signed state that requests are verified by, read once for all requests of a list. */
import type { Chain } from '../../sigchain/index.ts'
import { type EnvironmentPlace, readSecrets } from '../environment.ts'
import type { OpenWorkspace } from '../workspace.ts'

type Secrets = Awaited<ReturnType<typeof readSecrets>>

export type SignedState = {
  /** @throws UntrustedChain */
  chain(): Promise<Chain | null>
  /** Secrets of an environment, by its signed manifest. @throws ApiError, UntrustedChain */
  secrets(place: EnvironmentPlace): Promise<Secrets>
}

/** Read the list of requests first: they may depend on links that are newer than an earlier reading. */
export function openSignedState(workspace: OpenWorkspace): SignedState {
  const chains = new Map<string, Promise<Chain | null>>()
  const environments = new Map<string, Promise<Secrets>>()
  return {
    chain: () => readOnce(chains, workspace.id, () => workspace.newestChain()),
    secrets: (place) =>
      readOnce(environments, `${place.projectId}/${place.environment}`, () => readSecrets(place)),
  }
}

/** A failure is not kept, so that a retry reads again. */
function readOnce<T>(kept: Map<string, Promise<T>>, name: string, read: () => Promise<T>) {
  const known = kept.get(name)
  if (known) return known
  const reading = read()
  kept.set(name, reading)
  reading.catch(() => kept.delete(name))
  return reading
}
