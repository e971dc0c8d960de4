/** The stored data of each signed workspace. The server must show a continuation of it. */
import { z } from 'zod'
import type { KnownChains } from './chain.ts'

const manifest = z.strictObject({
  revision: z.int(),
  root: z.string(),
  headSeq: z.int().optional(),
})
export const knownEntry = z.strictObject({
  first: z.string(),
  seq: z.int(),
  head: z.string(),
  epoch: z.int(),
  keyCommitment: z.string(),
  /** Data of older versions, now in the command line's list of names. */
  names: z.array(z.string()).optional(),
  /** Project and environment → the newest manifest. */
  manifests: z.record(z.string(), manifest).default({}),
})
export type KnownEntry = z.output<typeof knownEntry>

/** The store. */
export type KnownEntries = {
  of(workspaceId: string): KnownEntry | undefined
  /** Calls `change` with the current content. Writes nothing if it returns undefined. */
  put(workspaceId: string, change: (before: KnownEntry | undefined) => KnownEntry | undefined): void
}

export function createKnownChains({ of, put }: KnownEntries): KnownChains {
  return {
    of,
    remember: (workspaceId, { first, seq, head, epoch, keyCommitment }) =>
      put(workspaceId, (before) =>
        before && before.seq >= seq
          ? undefined
          : { manifests: {}, ...before, first, seq, head, epoch, keyCommitment },
      ),
    manifestOf: ({ workspaceId, projectId, environment }) =>
      of(workspaceId)?.manifests[`${projectId} ${environment}`],
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
