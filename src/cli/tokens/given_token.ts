/** The token that the environment gives: SERVICE_TOKEN, or the file that SERVICE_TOKEN_FILE names. */
import { fileVariableOf, withSecretFiles } from '../../core/config/secret_files.ts'
import { CliError } from '../terminal/cli_error.ts'

type Env = Record<string, string | undefined>

const VARIABLE = 'SERVICE_TOKEN'

/** Reads the file once, when somebody asks. @throws CliError, with its path and nothing of what is in it */
export function openGivenToken(env: Env, warn: (...lines: string[]) => void) {
  let read: { token: string | undefined } | undefined
  return (): string | undefined => {
    read ??= { token: readToken(env, warn) }
    return read.token
  }
}

function readToken(env: Env, warn: (...lines: string[]) => void): string | undefined {
  const { env: filled, problems, warnings } = withSecretFiles(env, [VARIABLE])
  if (problems.length > 0) throw new CliError('usage', problems)
  warn(...warnings)
  return filled[VARIABLE]
}

/** Which variable gives one; a file is not read for it. */
export function tokenVariable(env: Env): string | undefined {
  const file = fileVariableOf(VARIABLE)
  if (env[file]) return file
  return env[VARIABLE] === undefined ? undefined : VARIABLE
}
