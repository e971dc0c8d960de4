/**
 * Verified deliveries from signed workspaces, by token, so that no server can roll them back. If it cannot be
 * kept, as in some containers, it lasts as long as the process.
 */
import { isDeepStrictEqual } from 'node:util'
import type { DeliveryMemory } from '../../client/delivery/delivery.ts'
import { CliError } from '../terminal/cli_error.ts'
import { changeKnown, type KnownDelivery as Entry, readKnown } from './known.ts'

type Env = Record<string, string | undefined>

const MOST_TOKENS = 200

/** Reads the file at each call: another process may have seen more. */
export function openKnownDeliveries(env: Env, tokenId: string): DeliveryMemory {
  let own: Entry | undefined
  const readEntries = () => takeLater(own, readKnown(env, 'deliveries')[tokenId])
  return {
    of: (place) => {
      const before = readEntries()
      return before && { ...before, ...before.manifests[nameOf(place)] }
    },
    remember: (place, { seq, head, revision, root, headSeq }) => {
      const manifests = { [nameOf(place)]: { revision, root, headSeq } }
      own = takeLater(own, { seq, head, manifests })
      keep(env, tokenId, own)
    },
  }
}

function nameOf({ projectId, environment }: { projectId: string; environment: string }): string {
  return `${projectId} ${environment}`
}

/** The newer of each part; both were verified. */
function takeLater(one: Entry | undefined, other: Entry): Entry
function takeLater(one: Entry | undefined, other: Entry | undefined): Entry | undefined
function takeLater(one: Entry | undefined, other: Entry | undefined): Entry | undefined {
  if (!one || !other) return one ?? other
  const { seq, head } = other.seq > one.seq ? other : one
  const manifests = { ...one.manifests }
  for (const [place, manifest] of Object.entries(other.manifests)) {
    if (manifest.revision > (manifests[place]?.revision ?? 0)) manifests[place] = manifest
  }
  return { seq, head, manifests }
}

function keep(env: Env, tokenId: string, seen: Entry): void {
  try {
    changeKnown(env, 'deliveries', ({ [tokenId]: before, ...others }) => {
      const now = takeLater(before, seen)
      if (isDeepStrictEqual(now, before)) return undefined
      const all = [...Object.entries(others), [tokenId, now] as const]
      return Object.fromEntries(all.slice(-MOST_TOKENS))
    })
  } catch (error) {
    if (!(error instanceof CliError)) throw error
  }
}
