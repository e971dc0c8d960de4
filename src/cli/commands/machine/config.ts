/** `cloakroom config`: shows and changes settings, with their sources. It also works with invalid files. */
import { dirname } from 'node:path'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { buildNotFoundError } from '../../named.ts'
import { demandReadable } from '../../project_file.ts'
import {
  findProjectFile,
  globalFile,
  isAddress,
  readProjectFile,
  type SettingName,
  settingNames,
  updateFile,
} from '../../settings.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { openTrustedFolders } from '../../trust/trusted_folders.ts'

/** Shows every setting, or one; with a value it sets that one, with --unset it removes it. */
export default command({
  usage: 'config [setting] [value]',
  examples: [
    'config',
    'config server https://vault.example.com',
    'config environment staging --local',
    'config environment --unset',
  ],
  options: [
    ['--local', 'use the project file instead of the global file'],
    ['--unset', 'remove the setting'],
  ],
  action: async (context, [name, value], options) => {
    if (name === undefined) return showAll(context)
    const known = settingNames.find((candidate) => candidate === name)
    if (!known) throw buildNotFoundError(name, settingNames, { what: 'setting', list: 'config' })
    if (value !== undefined && options.unset) {
      throw new CliError('usage', '--unset removes a setting and takes no value')
    }
    if (value === undefined && !options.unset) {
      const setting = showSetting(context, known)
      context.output.record(setting, setting.value ?? '')
      return
    }
    return change(context, known, value, options.local ?? false)
  },
})

function showAll(context: Context): undefined {
  const rows = settingNames.map((name) => showSetting(context, name))
  context.output.table(rows, ['setting', 'value', 'origin', { field: 'from', optional: true }])
  return undefined
}

function showSetting({ settings }: Context, name: SettingName) {
  const { value = null, origin = 'not set', from } = settings[name] ?? {}
  return { setting: name, value, origin, ...(from === undefined ? {} : { from }) }
}

function change(
  context: Context,
  name: SettingName,
  value: string | undefined,
  isLocal: boolean,
): undefined {
  const path = isLocal ? findProjectFile(context.cwd) : globalFile(context.env)
  if (path === null) {
    throw new CliError('usage', 'no project file in this folder', 'create one with: cloakroom init')
  }
  if (isLocal) demandReadable(path)
  updateFile(path, { [name]: value })
  // Set by this user's own hand: no question is left.
  if (isLocal && isAddress(name) && value !== undefined) {
    const { [name]: address } = readProjectFile(path)
    openTrustedFolders(context.env).add(dirname(path), { [name]: address })
  }
  context.output.done(
    value === undefined ? `${name} removed from ${path}` : `${name} set in ${path}`,
    { setting: name, value: value ?? null, file: path },
  )
  return undefined
}
