/**
 * Which key each workspace had, for every account that was used here: in a file of the user's own
 * configuration, which outlasts a logout. It holds commitments, no key.
 */
import { join } from 'node:path'
import { z } from 'zod'
import type { OpenWorkspace } from '../../client/vault.ts'
import { isKnownKey, type KnownKey, knownKeyOf, UntrustedKey } from '../../client/workspace_key.ts'
import { changeOwnJson } from '../files/change.ts'
import { readOwnJson } from '../files/read.ts'
import { configDirectory } from '../settings.ts'

const known = z.strictObject({
  epoch: z.int(),
  commitment: z.string(),
  /** What an older version kept: `known_names.ts` does now. */
  name: z.string().optional(),
})
/** Account → workspace → key. */
const file = z.record(z.string(), z.record(z.string(), known))

const WORDS = {
  says: 'which keys workspaces had',
  help: 'compare keys anew with: cloakroom workspace accept-key <workspace>',
}

type Env = Record<string, string | undefined>
type Account = { server: string; email: string }

export type KnownWorkspaceKeys = {
  of(workspaceId: string): KnownKey | undefined
  /** Remembers a first key, and one of a new epoch, which is said. Returns what speaks against a key. */
  check(workspace: OpenWorkspace): UntrustedKey | null
  /** In the place of what was known. */
  remember(workspace: OpenWorkspace): void
}

/** Reads the file at each call: another command may have changed it. */
export function openKnownWorkspaceKeys(
  env: Env,
  { server, email }: Account,
  warn: (text: string) => void,
): KnownWorkspaceKeys {
  const path = join(configDirectory(env), 'workspace_keys.json')
  const account = `${server} ${email.toLowerCase()}`
  const of = (workspaceId: string) => readOwnJson(path, file, WORDS)[account]?.[workspaceId]
  const put = (workspace: OpenWorkspace, isMeant: (before: KnownKey | undefined) => boolean) =>
    changeOwnJson(path, file, WORDS, ({ [account]: keys = {}, ...others }) =>
      isMeant(keys[workspace.id])
        ? { ...others, [account]: { ...keys, [workspace.id]: knownKeyOf(workspace) } }
        : undefined,
    )
  const check = (workspace: OpenWorkspace) => {
    const before = of(workspace.id)
    try {
      if (isKnownKey(workspace, before)) return null
    } catch (error) {
      if (error instanceof UntrustedKey) return error
      throw error
    }
    const { name, epoch } = workspace
    // Another command may know more by now.
    put(workspace, (now) => (now?.epoch ?? 0) < epoch)
    if (before) warn(`the key of ${name} is a new one, of epoch ${epoch}: somebody rekeyed it`)
    return null
  }
  return { of, check, remember: (workspace) => put(workspace, () => true) }
}
