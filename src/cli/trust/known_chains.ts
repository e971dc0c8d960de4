/**
 * What was seen of each signed workspace, by any account that was used here: in a file of the user's own
 * configuration, which outlasts a logout.
 */
import { join } from 'node:path'
import { z } from 'zod'
import type { KnownChains } from '../../client/signed/chain.ts'
import { knownChains, knownEntry } from '../../client/signed/known_chains.ts'
import { changeOwnJson } from '../files/change.ts'
import { readOwnJson } from '../files/read.ts'
import { configDirectory } from '../settings.ts'

/** Server → workspace → what was seen. */
const file = z.record(z.string(), z.record(z.string(), knownEntry))

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
  return knownChains({
    of: (workspaceId) => readOwnJson(path, file, WORDS)[server]?.[workspaceId],
    put: (workspaceId, change) =>
      changeOwnJson(path, file, WORDS, (all) => {
        const next = change(all[server]?.[workspaceId])
        return next && { ...all, [server]: { ...all[server], [workspaceId]: next } }
      }),
  })
}
