/**
 * What was verified of deliveries from signed workspaces, by token, so that no server goes back behind it: in a file of
 * the user's own configuration. Where that cannot be written, as in some containers, it lasts as long as the process.
 */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { DeliveryMemory } from '../../client/delivery/delivery.ts'
import { changeOwnJson } from '../files/change.ts'
import { readOwnJson } from '../files/read.ts'
import { configDirectory } from '../settings.ts'
import { CliError } from '../terminal/cli_error.ts'

const manifest = z.strictObject({
  revision: z.int(),
  root: z.string(),
  headSeq: z.int().optional(),
})
const entry = z.strictObject({
  seq: z.int(),
  head: z.string(),
  /** Project and environment → the newest manifest. */
  manifests: z.record(z.string(), manifest),
})
type Entry = z.output<typeof entry>
/** Token → what it was shown last; the one that was used last is the last. */
const file = z.record(z.string(), entry)

const MOST_TOKENS = 200
const WORDS = {
  says: 'what was seen of deliveries',
  help: 'go on with what the server shows now',
}

/** Reads the file at each call: another process may have seen more. */
export function openKnownDeliveries(
  env: Record<string, string | undefined>,
  tokenId: string,
): DeliveryMemory {
  const path = join(configDirectory(env), 'deliveries.json')
  let own: Entry | undefined
  const known = () => later(own, readOwnJson(path, file, WORDS)[tokenId])
  return {
    of: (place) => {
      const before = known()
      return before && { ...before, ...before.manifests[nameOf(place)] }
    },
    remember: (place, { seq, head, revision, root, headSeq }) => {
      const manifests = { [nameOf(place)]: { revision, root, headSeq } }
      own = later(own, { seq, head, manifests })
      keep(path, tokenId, own)
    },
  }
}

function nameOf({ projectId, environment }: { projectId: string; environment: string }): string {
  return `${projectId} ${environment}`
}

/** Of each part the newer; both were verified. */
function later(one: Entry | undefined, other: Entry): Entry
function later(one: Entry | undefined, other: Entry | undefined): Entry | undefined
function later(one: Entry | undefined, other: Entry | undefined): Entry | undefined {
  if (!one || !other) return one ?? other
  const { seq, head } = other.seq > one.seq ? other : one
  const manifests = { ...one.manifests }
  for (const [place, manifest] of Object.entries(other.manifests)) {
    if (manifest.revision > (manifests[place]?.revision ?? 0)) manifests[place] = manifest
  }
  return { seq, head, manifests }
}

function keep(path: string, tokenId: string, seen: Entry): void {
  try {
    changeOwnJson(path, file, WORDS, ({ [tokenId]: before, ...others }) => {
      const now = later(before, seen)
      if (isDeepStrictEqual(now, before)) return undefined
      const all = [...Object.entries(others), [tokenId, now] as const]
      return Object.fromEntries(all.slice(-MOST_TOKENS))
    })
  } catch (error) {
    if (!(error instanceof CliError)) throw error
  }
}
