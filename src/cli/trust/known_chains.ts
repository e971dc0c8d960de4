/**
 * What was seen of each signed workspace, by any account that was used here: in a file of the user's own
 * configuration, which outlasts a logout. A server must show what continues it.
 */
import { join } from 'node:path'
import { z } from 'zod'
import type { KnownChains } from '../../client/signed/chain.ts'
import { readOwnJson } from '../files/read.ts'
import { replaceFile } from '../files/replace.ts'
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
  /** All that it was called: names are not signed. */
  names: z.array(z.string()).default([]),
  /** Project and environment → the newest manifest. */
  manifests: z.record(z.string(), manifest).default({}),
})
/** Server → workspace → what was seen. */
const file = z.record(z.string(), z.record(z.string(), entry))

type Entry = z.output<typeof entry>

export type KnownSigned = KnownChains & {
  /** Keeps what a workspace that is known is called. */
  name(workspaceId: string, name: string): void
  /** Whether a signed workspace was called that. */
  isName(name: string): boolean
}

/** Reads the file at each call: another command may have changed it. */
export function openKnownChains(
  env: Record<string, string | undefined>,
  server: string,
): KnownSigned {
  const path = join(configDirectory(env), 'chains.json')
  const entryOf = (workspaceId: string) => readFile(path)[server]?.[workspaceId]
  const put = (workspaceId: string, change: (before: Entry | undefined) => Entry | undefined) => {
    const all = readFile(path)
    const next = change(all[server]?.[workspaceId])
    if (next === undefined) return
    const workspaces = { ...all[server], [workspaceId]: next }
    replaceFile(path, `${JSON.stringify({ ...all, [server]: workspaces }, null, 2)}\n`)
  }
  return {
    of: entryOf,
    remember: (workspaceId, { first, seq, head, epoch, keyCommitment }) =>
      put(workspaceId, (before) =>
        before && before.seq >= seq
          ? undefined
          : { names: [], manifests: {}, ...before, first, seq, head, epoch, keyCommitment },
      ),
    name: (workspaceId, name) =>
      put(workspaceId, (before) =>
        !before || before.names.includes(name)
          ? undefined
          : { ...before, names: [...before.names, name] },
      ),
    isName: (name) =>
      Object.values(readFile(path)[server] ?? {}).some(({ names }) => names.includes(name)),
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

function readFile(path: string): z.output<typeof file> {
  return readOwnJson(path, file, {
    says: 'what was seen of signed workspaces',
    help: 'compare workspaces anew with: cloakroom workspace fingerprint',
  })
}
