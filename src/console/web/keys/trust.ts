/** The worker's pins of workspaces, and its notices about changes. */
import type { AccountKeys } from '../../../client/account/account_keys.ts'
import type { Api } from '../../../client/http/api.ts'
import { createKnownChains } from '../../../client/signed/known_chains.ts'
import { linksInWords } from '../../../client/signed/link_in_words.ts'
import { chainsOf, hashInGroups, type Trust } from '../../../client/signed/trust.ts'
import {
  createKnownWorkspaceKeys,
  keyFingerprint,
  knownKeyOf,
} from '../../../client/workspace_key.ts'
import { identityOf } from '../../../sigchain/index.ts'
import { Refused } from './failure.ts'
import type { BrowserMemory } from './memory.ts'
import type { WorkspaceNotice } from './reports.ts'

/** @throws Refused for an account that cannot sign */
export async function identityFor({ seed }: AccountKeys) {
  if (seed !== null) return identityOf(seed)
  throw new Refused('no_signing_key')
}

/** Changes of members and their keys. Each causes a notice, no matter who signed it. */
const ABOUT_PEOPLE = new Set(['members.put', 'members.removed', 'keys.rotated'])

export function trustOf(
  api: Api,
  memory: BrowserMemory,
  userId: string,
  notify: (notice: WorkspaceNotice) => void,
): Trust {
  const { workspaceKeys: kept } = memory
  const keyOf = (workspaceId: string) => `${userId} ${workspaceId}`
  const workspaceKeys = createKnownWorkspaceKeys(
    { of: (id) => kept.of(keyOf(id)), put: (id, change) => kept.put(keyOf(id), change) },
    ({ epoch, ...workspace }) => notify({ ...describePerson(workspace), kind: 'rekeyed', epoch }),
  )
  const chains = chainsOf(api, createKnownChains(memory.chains), {
    met: (workspace, first) =>
      notify({ ...describePerson(workspace), kind: 'met', fingerprint: hashInGroups(first) }),
    rekeyed: (workspace, epoch) => notify({ ...describePerson(workspace), kind: 'rekeyed', epoch }),
    went: (workspace, links, before, seq) => {
      const described = linksInWords(links, before)
      const changes = described.filter((each, at) => {
        return each.seq > seq && ABOUT_PEOPLE.has(links[at]?.type ?? '')
      })
      if (changes.length > 0) notify({ ...describePerson(workspace), kind: 'people', changes })
    },
  })
  const onPlainWorkspace: Trust['onPlainWorkspace'] = async (workspace) => {
    const fingerprint = await keyFingerprint(knownKeyOf(workspace))
    notify({ ...describePerson(workspace), kind: 'plain', fingerprint })
  }
  return { chains, workspaceKeys, onPlainWorkspace }
}

function describePerson({ id, name }: { id: string; name: string }) {
  return { workspaceId: id, workspace: name }
}
