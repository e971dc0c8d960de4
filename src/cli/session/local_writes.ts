/**
 * Local writes of a command after the server made the change. Whether it can is checked before the first
 * call that changes something: then nothing was done. A write that fails all the same is a warning, because the command
 * succeeded.
 */
import { type Api, type Around, callsWithin } from '../../client/http/api.ts'
import type { KnownNames } from '../../client/known_names.ts'
import type { KnownChains } from '../../client/signed/chain.ts'
import type { KnownWorkspaceKeys } from '../../client/workspace_key.ts'
import { demandWritable } from '../files/replace.ts'
import { configDirectory } from '../settings.ts'
import { CliError } from '../terminal/cli_error.ts'
import type { Output } from '../terminal/output.ts'

export type LocalWrites = {
  /** Checks the folder before the first change. @throws CliError if it cannot be written */
  checking(api: Api): Api
  /** Does a local write; after a change on the server a failure is a warning. @throws CliError before one */
  remember(write: () => void): void
  names(known: KnownNames): KnownNames
  chains(known: KnownChains): KnownChains
  keys(known: KnownWorkspaceKeys): KnownWorkspaceKeys
}

export function openLocalWrites(
  env: Record<string, string | undefined>,
  warn: Output['warn'],
): LocalWrites {
  let isChecked = false
  let isDone = false
  const around: Around = async (call, { method }) => {
    if (method === 'GET') return call()
    if (!isChecked) demandWritable(configDirectory(env))
    isChecked = true
    const answer = await call()
    isDone = true
    return answer
  }
  const remember = (write: () => void) => {
    try {
      write()
    } catch (error) {
      if (!isDone || !(error instanceof CliError) || error.code !== 'invalid_file') throw error
      warn(
        `The change was made, but this machine could not record it: ${error.message}.`,
        'Make the folder writable. The next command reads it from the server again.',
      )
    }
  }
  return {
    checking: (api) => callsWithin(api, around),
    remember,
    names: (known) => ({
      ...known,
      learn: (...seen) => remember(() => known.learn(...seen)),
      accept: (...named) => remember(() => known.accept(...named)),
      forget: (id) => remember(() => known.forget(id)),
    }),
    chains: (known) => ({
      ...known,
      remember: (...seen) => remember(() => known.remember(...seen)),
      rememberManifest: (...seen) => remember(() => known.rememberManifest(...seen)),
    }),
    keys: (known) => ({
      ...known,
      remember: (workspace) => remember(() => known.remember(workspace)),
    }),
  }
}
