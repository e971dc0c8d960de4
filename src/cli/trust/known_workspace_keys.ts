/**
 * Which key each workspace had, for every account that was used here: in a file of the user's own
 * configuration, which outlasts a logout. It holds commitments, no key.
 */
import { join } from 'node:path'
import { z } from 'zod'
import { type KnownWorkspaceKeys, knownWorkspaceKeys } from '../../client/workspace_key.ts'
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

/** Reads the file at each call: another command may have changed it. */
export function openKnownWorkspaceKeys(
  env: Env,
  { server, email }: Account,
  warn: (text: string) => void,
): KnownWorkspaceKeys {
  const path = join(configDirectory(env), 'workspace_keys.json')
  const account = `${server} ${email.toLowerCase()}`
  return knownWorkspaceKeys(
    {
      of: (workspaceId) => readOwnJson(path, file, WORDS)[account]?.[workspaceId],
      put: (workspaceId, change) =>
        changeOwnJson(path, file, WORDS, ({ [account]: keys = {}, ...others }) => {
          const next = change(keys[workspaceId])
          return next && { ...others, [account]: { ...keys, [workspaceId]: next } }
        }),
    },
    ({ name, epoch }) =>
      warn(`the key of ${name} is a new one, of epoch ${epoch}: somebody rekeyed it`),
  )
}
