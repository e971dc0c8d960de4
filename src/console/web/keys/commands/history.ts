/** What the members of a workspace have signed: in words, whether the server shows the same, and who could see what by it. */
import { readExposure } from '../../../../client/actions/exposure.ts'
import { UntrustedChain } from '../../../../client/signed/chain.ts'
import { linksInWords } from '../../../../client/signed/link_in_words.ts'
import { hashInGroups } from '../../../../client/signed/trust.ts'
import { verifyWorkspace } from '../../../../client/signed/verified_workspace.ts'
import { firstHash } from '../../../../sigchain/index.ts'
import { Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import { placeIn, workspaceOf, workspacesOf } from '../places.ts'
import type { Progress } from '../reports.ts'

export const historyCommands = { read, seen, verify }

type In = { workspaceId: string }

/** Also of a workspace that is not trusted: `fault` says why. Null for one that is not signed. */
async function read(held: HeldKeys, { workspaceId }: In) {
  const found = (await workspacesOf(held)).find(({ id }) => id === workspaceId)
  if (!found) throw new Refused('not_found')
  const { chains } = found
  if (!chains) return null
  try {
    const chain = await chains.continued(found)
    const hashes = [...chain.positions.keys()]
    const told = linksInWords(await chains.history(found))
    const links = told.map((each, at) => ({ ...each, hash: hashes[at] ?? '' }))
    const fault = found.fault?.message ?? null
    return { name: found.name, fault, first: hashInGroups(firstHash(chain)), links }
  } catch (error) {
    if (!(error instanceof UntrustedChain)) throw error
    return { name: found.name, fault: error.message, first: null, links: [] }
  }
}

/** Who could have seen the secrets of an environment, or of all. @throws UntrustedChain, Refused `not_signed` */
async function seen(
  held: HeldKeys,
  { workspaceId, environment }: In & { environment: string | null },
) {
  const found = await readExposure(await placeIn(held, workspaceId), environment)
  if (found === null) throw new Refused('not_signed')
  return found
}

/** Everything that a member can check. @throws UntrustedChain */
async function verify(held: HeldKeys, at: In, progress: (progress: Progress) => void) {
  const entry = await workspaceOf(held, at.workspaceId)
  progress({ step: 'verifying' })
  const { chains } = entry
  if (!chains) throw new Refused('not_signed')
  const { chain, differences, ...checked } = await verifyWorkspace(held.api, entry.open, chains)
  const { seq: links, epoch, members } = chain
  return { ...checked, faults: differences, links, epoch, members: members.size }
}
