/** The chains of signed workspaces, with notes for a person at a terminal. */
import type { Api } from '../../client/http/api.ts'
import type { Chains, KnownChains } from '../../client/signed/chain.ts'
import { chainsOf, hashInGroups } from '../../client/signed/trust.ts'
import type { OpenWorkspace } from '../../client/workspace.ts'
import { keyFingerprint, knownKeyOf } from '../../client/workspace_key.ts'
import type { Output } from '../terminal/output.ts'

export function openChains(api: Api, known: KnownChains, warn: Warn): Chains {
  return chainsOf(api, known, {
    met: ({ name }, first) =>
      warn(
        `${name} is new to this machine. Fingerprint: ${hashInGroups(first)}`,
        'Compare it with another member or on your other machine: cloakroom workspace fingerprint',
      ),
    rekeyed: ({ name }, epoch) => warn(`${name} has a new key, epoch ${epoch}`),
  })
}

type Warn = Output['warn']

/** One that is not signed, where others are. */
export async function notePlainWorkspace(shown: OpenWorkspace, warn: Warn): Promise<void> {
  const { name } = shown
  warn(
    `${name} is new to this machine and is not signed, unlike your other workspaces. Key fingerprint: ${await keyFingerprint(knownKeyOf(shown))}`,
    `Compare it with another member: cloakroom workspace accept-key ${name}`,
  )
}
