/** The signed history of a workspace in words, its verification, and who could read secrets by it. */
import { readExposure } from '../../../../client/actions/exposure.ts'
import { UntrustedChain } from '../../../../client/signed/chain.ts'
import { linksInWords } from '../../../../client/signed/link_in_words.ts'
import { hashInGroups } from '../../../../client/signed/trust.ts'
import { verifyWorkspace } from '../../../../client/signed/verified_workspace.ts'
import { readFirstHash } from '../../../../sigchain/index.ts'
import { Refused } from '../failure.ts'
import { placeIn, workspaceOf, workspacesOf } from '../places.ts'
import type { Progress } from '../reports.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

export const historyCommands = { read, seen: listReaders, verify }

type In = { workspaceId: string }

/** Reads the history of untrusted workspaces, too, with the reason as `fault`. Null for an unsigned workspace. */
async function read(session: UnlockedSession, { workspaceId }: In) {
  const found = (await workspacesOf(session)).find(({ id }) => id === workspaceId)
  if (!found) throw new Refused('not_found')
  const { chains } = found
  if (!chains) return null
  try {
    const chain = await chains.readNewerLinks(found)
    const hashes = [...chain.positions.keys()]
    const described = linksInWords(await chains.history(found))
    const links = described.map((each, at) => ({ ...each, hash: hashes[at] ?? '' }))
    const fault = found.fault?.message ?? null
    return { name: found.name, fault, first: hashInGroups(readFirstHash(chain)), links }
  } catch (error) {
    if (!(error instanceof UntrustedChain)) throw error
    return { name: found.name, fault: error.message, first: null, links: [] }
  }
}

/** Lists who could read the secrets of one environment, or of all. @throws UntrustedChain, Refused `not_signed` */
async function listReaders(
  session: UnlockedSession,
  { workspaceId, environment }: In & { environment: string | null },
) {
  const found = await readExposure(await placeIn(session, workspaceId), environment)
  if (found === null) throw new Refused('not_signed')
  return found
}

/** Verifies everything that a member can check. @throws UntrustedChain */
async function verify(session: UnlockedSession, at: In, progress: (progress: Progress) => void) {
  const entry = await workspaceOf(session, at.workspaceId)
  progress({ step: 'verifying' })
  const { chains } = entry
  if (!chains) throw new Refused('not_signed')
  const { chain, differences, ...checked } = await verifyWorkspace(session.api, entry.open, chains)
  const { seq: links, epoch, members } = chain
  return { ...checked, faults: differences, links, epoch, members: members.size }
}
