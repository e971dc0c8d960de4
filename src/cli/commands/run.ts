/** `cloakroom run`: an environment for one command, decrypted here and given to that command only. */
import { fetchEnvironment } from '../../client/delivery.ts'
import { listSecrets } from '../../features/secrets/contract.ts'
import { EX_NOT_FOUND, EX_USAGE } from '../../platform/exit_codes.ts'
import type { runOptions } from '../catalogue/options.ts'
import type { Action, OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import { namedEnvironment, tokenOf } from '../resolver_call.ts'
import { projectScope } from '../scope.ts'
import { reveal } from '../sealing.ts'
import { refuseEmpty } from '../suggestions.ts'
import { runChild } from '../terminal/child.ts'
import { CliError } from '../terminal/cli_error.ts'

/** What was only meant for us: a child that knows the token could fetch more. */
const OURS = ['SERVICE_TOKEN', 'SERVICE_PASSPHRASE']

type RunOptions = OptionValues<typeof runOptions>

export const run: Action<typeof runOptions> = async (context, command, options) => {
  if (command.length === 0)
    throw new CliError(EX_USAGE, 'give a command after --', 'example: cloakroom run -- npm start')
  const values = await valuesFor(context, options)
  if (Object.keys(values).length === 0) {
    context.output.warn(
      'there are no secrets for this command: check the environment and the policies',
    )
  }
  const inherited = Object.fromEntries(
    Object.entries(context.env).filter(([name]) => !OURS.includes(name)),
  )
  try {
    return await runChild(command, {
      env: { ...inherited, ...values },
      masked: options.mask === false ? [] : Object.values(values),
    })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new CliError(EX_NOT_FOUND, `there is no program ${command[0]}`)
    }
    throw error
  }
}

/** By a token where there is one, else by the session of the person who is logged in. */
async function valuesFor(context: Context, options: RunOptions): Promise<Record<string, string>> {
  const token = tokenOf(context, options)
  if (!token) return valuesOfSession(context, options)
  const scope = namedEnvironment(context)
  return (await fetchEnvironment(await context.server(), token, scope)).open()
}

/** Secrets whose policy does not list `env` stay where they are, as in delivery by token. */
async function valuesOfSession(
  context: Context,
  options: RunOptions,
): Promise<Record<string, string>> {
  const scope = await projectScope(context)
  const { session, project, environment } = scope
  const query = { environment, include: 'value' as const }
  const stored = await session.api.list(listSecrets, { params: { project_id: project.id }, query })
  if (stored.length === 0) await refuseEmpty(scope, options)
  const meant = stored.filter(({ policy }) => allowsEnvironment(policy))
  return Object.fromEntries(meant.map((secret) => [secret.key, reveal(scope, secret)]))
}

function allowsEnvironment(policy: unknown): boolean {
  const locations = (policy as { allowed_locations?: string[] } | null)?.allowed_locations
  return locations?.includes('env') ?? true
}
