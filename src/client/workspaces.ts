/** The workspaces of a person: each with its key where it opens, and used only where that key is trusted. */
import { listWorkspacesEndpoint } from '../features/workspaces/contract.ts'
import { type Identity, isSignedId } from '../sigchain/index.ts'
import type { AccountKeys } from './account/account_keys.ts'
import type { Api, CallResult } from './http/api.ts'
import { keyFaultOf, type Trust } from './signed/trust.ts'
import { openWorkspace } from './vault.ts'
import { type AnyWorkspace, attachSignature, type OpenWorkspace } from './workspace.ts'
import type { UntrustedKey } from './workspace_key.ts'

type Listed = CallResult<typeof listWorkspacesEndpoint>[number]
export type WorkspaceEntry = Listed &
  AnyWorkspace & {
    /** With a key that is trusted. */
    open: OpenWorkspace | null
    /** With the key that the server has for this person. */
    shown: OpenWorkspace | null
    /** Why that key is not trusted. */
    fault: UntrustedKey | null
  }

/** The reader. `identity` is requested only for signing. */
export type WorkspaceReader = Pick<AccountKeys, 'privateKey' | 'publicKey'> & {
  api: Api
  trust: Trust
  identity: () => Promise<Identity>
}

/** The list and the chains are read separately, and a rekey may happen in between. */
const MOST_READS = 3

/** Every workspace, invited ones too. */
export async function readWorkspaces(reader: WorkspaceReader): Promise<WorkspaceEntry[]> {
  for (let reads = 1; ; reads += 1) {
    const entries = await readOnce(reader)
    const overtaken = entries.filter(({ id, fault }) => fault !== null && isSignedId(id))
    if (overtaken.length === 0 || reads === MOST_READS) return entries
    // A chain that cannot be read is a fault of the next reading.
    await Promise.allSettled(overtaken.map((entry) => reader.trust.chains.readNewerLinks(entry)))
  }
}

async function readOnce(reader: WorkspaceReader): Promise<WorkspaceEntry[]> {
  const { api, trust, identity, privateKey, publicKey } = reader
  const listed = await api.list(listWorkspacesEndpoint, {})
  const isBesideSigned = listed.some((entry) => isJoined(entry) && isSignedId(entry.id))
  return Promise.all(
    listed.map(async (entry) => {
      const signature = { chains: trust.chains, identity }
      const opened = await openWorkspace(entry, privateKey, publicKey)
      const shown = opened && attachSignature(signature, opened)
      const isUsed = shown && isJoined(entry)
      const fault = isUsed ? await keyFaultOf(shown, trust, isBesideSigned) : null
      return { ...attachSignature(signature, entry), shown, fault, open: fault ? null : shown }
    }),
  )
}

export function isJoined({ status }: { status: string }): boolean {
  return status === 'active'
}
