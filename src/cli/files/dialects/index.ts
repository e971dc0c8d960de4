/**
 * Dialects of `.env` files: each is read and written like one program, and values that it cannot represent are refused.
 * Without a dialect, only text that all programs read alike is accepted (`client/secrets/dotenv.ts`).
 */
import { CliError } from '../../terminal/cli_error.ts'
import type { DialectRules } from '../located.ts'
import { bash } from './bash.ts'
import { compose } from './compose.ts'
import { docker } from './docker.ts'
import { dotenv } from './dotenv.ts'

export const dialectNames = ['docker', 'dotenv', 'bash', 'compose'] as const
export type Dialect = (typeof dialectNames)[number]

export const dialects: Readonly<Record<Dialect, DialectRules>> = { docker, dotenv, bash, compose }

type DialectOption = { dialect: string | undefined }

/** @throws CliError */
export function dialectOf({ dialect }: DialectOption): Dialect | undefined {
  if (dialect === undefined) return undefined
  const known = dialectNames.find((name) => name === dialect)
  if (known) return known
  throw new CliError(
    'usage',
    `${dialect} is not a dialect.`,
    `use one of ${dialectNames.join(', ')}`,
  )
}

/** For values that are not read from a file. @throws CliError */
export function refuseDialect({ dialect }: DialectOption): void {
  if (dialect !== undefined)
    throw new CliError('usage', '--dialect has no effect without --from-file', 'omit it')
}
