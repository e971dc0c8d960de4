/**
 * What was seen of each signed workspace, by any account that was used here: in a file of the user's own
 * configuration, which outlasts a logout. A server must show what continues it.
 */
import { join } from 'node:path'
import { z } from 'zod'
import type { KnownChains } from '../../client/signed/chain.ts'
import { changeOwnJson } from '../files/change.ts'
import { readOwnJson } from '../files/read.ts'
import { configDirectory } from '../settings.ts'

const known = z.strictObject({
  first: z.string(),
  seq: z.int(),
  head: z.string(),
  epoch: z.int(),
  keyCommitment: z.string(),
})
const manifest = z.strictObject({
  revision: z.int(),
  root: z.string(),
  headSeq: z.int().optional(),
})
const entry = known.extend({
  /** What an older version kept: `known_names.ts` does now. */
  names: z.array(z.string()).optional(),
  /** Project and environment → the newest manifest. */
  manifests: z.record(z.string(), manifest).default({}),
})
/** Server → workspace → what was seen. */
const file = z.record(z.string(), z.record(z.string(), entry))

type Entry = z.output<typeof entry>

const WORDS = {
  says: 'what was seen of signed workspaces',
  help: 'compare workspaces anew with: cloakroom workspace fingerprint',
}

/** Reads the file at each call: another command may have changed it. */
export function openKnownChains(
  env: Record<string, string | undefined>,
  server: string,
): KnownChains {
  const path = join(configDirectory(env), 'chains.json')
  const entryOf = (workspaceId: string) => readOwnJson(path, file, WORDS)[server]?.[workspaceId]
  const put = (workspaceId: string, change: (before: Entry | undefined) => Entry | undefined) =>
    changeOwnJson(path, file, WORDS, (all) => {
      const next = change(all[server]?.[workspaceId])
      return next && { ...all, [server]: { ...all[server], [workspaceId]: next } }
    })
  return {
    of: entryOf,
    remember: (workspaceId, { first, seq, head, epoch, keyCommitment }) =>
      put(workspaceId, (before) =>
        before && before.seq >= seq
          ? undefined
          : { manifests: {}, ...before, first, seq, head, epoch, keyCommitment },
      ),
    manifestOf: ({ workspaceId, projectId, environment }) =>
      entryOf(workspaceId)?.manifests[`${projectId} ${environment}`],
    rememberManifest: ({ workspaceId, projectId, environment }, { revision, root, headSeq }) =>
      put(workspaceId, (before) => {
        const place = `${projectId} ${environment}`
        if (!before || (before.manifests[place]?.revision ?? 0) >= revision) return undefined
        return {
          ...before,
          manifests: { ...before.manifests, [place]: { revision, root, headSeq } },
        }
      }),
  }
}
