/** `cloakroom run`: an environment for one command, decrypted here and given to that command only. */
import { fetchEnvironment } from '../../client/delivery.ts'
import { unsafeReason } from '../../client/unsafe_variables.ts'
import { listSecrets } from '../../features/secrets/contract.ts'
import { isSensitive } from '../../platform/policy.ts'
import type { runOptions } from '../catalogue/options.ts'
import type { Action, OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import { inherited } from '../inherited.ts'
import { namedEnvironment, tokenOf, tokenRefusal } from '../resolver_call.ts'
import { projectScope } from '../scope.ts'
import { reveal } from '../sealing.ts'
import { refuseEmpty } from '../suggestions.ts'
import { runChild } from '../terminal/child.ts'
import { CliError } from '../terminal/cli_error.ts'

/** The values by name, each with its policy, which its ciphertext is bound to. */
type Delivered = Record<string, { value: string; policy: unknown }>
type RunOptions = OptionValues<typeof runOptions>

export const run: Action<typeof runOptions> = async (context, command, options) => {
  if (command.length === 0)
    throw new CliError('usage', 'give a command after --', 'example: cloakroom run -- npm start')
  const delivered = await valuesFor(context, options)
  const names = Object.keys(delivered)
  refuseUnsafe(names, options.allowEnv ?? [])
  refuseZeroBytes(delivered)
  if (names.length === 0) {
    context.output.warn(
      'there are no secrets for this command: check the environment and the policies',
    )
  }
  return runChild(command, {
    env: { ...inherited(context.env), ...textsOf(delivered) },
    masked: options.mask === false ? {} : textsOf(delivered, isSensitive),
  })
}

function textsOf(
  delivered: Delivered,
  isMeant: (policy: unknown) => boolean = () => true,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(delivered).flatMap(([name, { value, policy }]) =>
      isMeant(policy) ? [[name, value]] : [],
    ),
  )
}

/** Who stores such a secret would decide what runs on this machine. @throws CliError */
function refuseUnsafe(names: readonly string[], allowed: readonly string[]): void {
  const unsafe = names.flatMap((name) => {
    const reason = allowed.includes(name) ? null : unsafeReason(name)
    return reason === null ? [] : [{ name, reason }]
  })
  if (unsafe.length === 0) return
  const lines = unsafe.map(({ name, reason }) => `the secret ${name} ${reason}`)
  const flags = unsafe.map(({ name }) => `--allow-env ${name}`)
  throw new CliError(
    'unsafe_variable',
    `${lines.join('\n')}\nnothing was run`,
    `if that is meant, say so before the command: ${flags.join(' ')}`,
  )
}

/** The runtime would say so too, with the value in its message. @throws CliError */
function refuseZeroBytes(delivered: Delivered): void {
  const found = Object.keys(delivered).filter((name) => delivered[name]?.value.includes('\0'))
  if (found.length === 0) return
  throw new CliError(
    'unsafe_variable',
    `${found.join(', ')}: a zero byte is in the value, and no variable can hold one; nothing was run`,
    'a policy whose allowed_locations do not list env keeps it out of environments',
  )
}

/** By a token where there is one, else by the session of the person who is logged in. */
async function valuesFor(context: Context, options: RunOptions): Promise<Delivered> {
  const token = tokenOf(context, options)
  if (!token) return valuesOfSession(context, options)
  const scope = namedEnvironment(context)
  const delivery = fetchEnvironment(await context.server(), token, scope)
  const { sealed, open } = await delivery.catch((error: unknown) => {
    throw tokenRefusal(error)
  })
  const opened = Object.entries(await open())
  return Object.fromEntries(
    opened.map(([name, value]) => [name, { value, policy: sealed[name]?.policy ?? null }]),
  )
}

/** Secrets whose policy does not list `env` stay where they are, as in delivery by token. */
async function valuesOfSession(context: Context, options: RunOptions): Promise<Delivered> {
  const scope = await projectScope(context)
  const { session, project, environment } = scope
  const query = { environment, include: 'value' as const }
  const stored = await session.api.list(listSecrets, { params: { project_id: project.id }, query })
  if (stored.length === 0) await refuseEmpty(scope, options)
  const meant = stored.filter(({ policy }) => allowsEnvironment(policy))
  return Object.fromEntries(
    meant.map((secret) => [secret.key, { value: reveal(scope, secret), policy: secret.policy }]),
  )
}

function allowsEnvironment(policy: unknown): boolean {
  const locations = (policy as { allowed_locations?: string[] } | null)?.allowed_locations
  return locations?.includes('env') ?? true
}
