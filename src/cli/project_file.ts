/** An unusable project file, for which no defaults are guessed. */
import { type ParseError, parse } from 'jsonc-parser'
import { z } from 'zod'
import { readProjectText } from './files/read.ts'
import {
  findProjectFile,
  isUsableSetting,
  type SettingName,
  type Settings,
  settingNames,
} from './settings.ts'
import { CliError } from './terminal/cli_error.ts'

type Place = { settings: Settings; cwd: string }

/**
 * Before a command works where the project file should have said: another project's secrets are the worst
 * that a mistake in it could lead to. Who gives one of the settings otherwise needs no file.
 *
 * @throws CliError
 */
export function demandProjectFile({ settings, cwd }: Place, ...names: SettingName[]): void {
  const isGiven = names.some((name) => GIVEN.includes(settings[name]?.origin ?? ''))
  const path = isGiven ? null : findProjectFile(cwd)
  const text = path === null ? null : readProjectText(path)
  const fault = text === null ? null : faultOf(text)
  if (fault === null) return
  throw new CliError(
    'invalid_file',
    `${path}${fault}; nothing was done`,
    `fix it, recreate it with cloakroom link <project>, or pass --workspace and --project`,
  )
}

/** Before one setting is changed: all others would be lost. @throws CliError for a file that is no object of JSON */
export function demandReadable(path: string): void {
  const text = readProjectText(path)
  const fault = text === null ? null : unreadable(text)
  if (fault === null) return
  throw new CliError(
    'invalid_file',
    `${path}${fault}; nothing was changed`,
    'fix it, or recreate it with cloakroom link <project>',
  )
}

const GIVEN: readonly string[] = ['flag', 'environment']

function faultOf(text: string): string | null {
  const fault = unreadable(text)
  if (fault !== null) return fault
  const said = z.record(z.string(), z.unknown()).parse(parse(text))
  const unusable = settingNames.find(
    (name) => said[name] !== undefined && !isUsableSetting(name, said[name]),
  )
  return unusable === undefined ? null : ` has no usable ${unusable}`
}

function unreadable(text: string): string | null {
  const errors: ParseError[] = []
  const data = parse(text, errors, { disallowComments: true })
  const [first] = errors
  if (first) {
    const line = text.slice(0, first.offset).split('\n').length
    return `, line ${line}: this is not JSON`
  }
  const { success } = z.record(z.string(), z.unknown()).safeParse(data)
  return success ? null : ', line 1: this is not an object of settings'
}
