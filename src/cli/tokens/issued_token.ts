/** Shared by all commands that create a token. */
import type { TokenOrder } from '../../client/agents/tokens.ts'
import { objectionToActorName } from '../../core/names/actor_name.ts'
import { SECRET_NAME } from '../../core/names/secret_name.ts'
import { parseDomain } from '../../core/net/domain.ts'
import type { OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import type { narrowingOptions, tokenOptions } from '../options.ts'
import { CliError } from '../terminal/cli_error.ts'

/** `--label`, `--may`, and `--expires-in-days`, which is null for `never`. */
export function orderOf({
  label,
  expiresInDays,
  may,
}: OptionValues<typeof tokenOptions>): TokenOrder {
  if (label !== undefined) checkActorName(label)
  if (expiresInDays !== undefined && expiresInDays !== 'never' && !isDays(expiresInDays)) {
    throw new CliError(
      'usage',
      `--expires-in-days must be 1 to ${MAX_DAYS} or never, not ${expiresInDays}`,
    )
  }
  return {
    ...(label === undefined ? {} : { label }),
    ...(expiresInDays === undefined
      ? {}
      : { expires_in_days: expiresInDays === 'never' ? null : Number(expiresInDays) }),
    ...(may === undefined ? {} : { capabilities: capabilitiesOf(may) }),
  }
}

const MAX_DAYS = 3650

function isDays(text: string): boolean {
  return /^[1-9]\d{0,3}$/.test(text) && Number(text) <= MAX_DAYS
}

/** Before anything is made or asked. @throws CliError `usage` for a name that the server would refuse */
export function checkActorName(name: string): void {
  const objection = objectionToActorName(name)
  if (objection === null) return
  throw new CliError(
    'usage',
    `The name ${name} must ${objection}`,
    'use a name such as deploy-bot; people have accounts: cloakroom workspace invite',
  )
}

/** `--host` and `--secret`. @throws CliError for an invalid host or name */
export function readNarrowingOptions({
  host,
  secret,
}: OptionValues<typeof narrowingOptions>): Pick<TokenOrder, 'hosts' | 'secrets'> {
  const hosts = host?.map((text) => {
    const domain = parseDomain(text)
    if (domain) return domain.text
    const fix = URL.parse(text)?.hostname || 'api.example.com'
    throw new CliError('usage', `${text} is not a host`, `give the host: --host ${fix}`)
  })
  const wrong = secret?.find((name) => !new RegExp(`^${SECRET_NAME}$`).test(name))
  if (wrong !== undefined) throw new CliError('usage', `${wrong} is not a secret name`)
  return { ...(hosts ? { hosts } : {}), ...(secret ? { secrets: secret } : {}) }
}

const SETS: readonly NonNullable<TokenOrder['capabilities']>[] = [
  ['use'],
  ['use', 'read'],
  ['read'],
]

/** In the order that the server takes, whichever was typed. */
function capabilitiesOf(may: string) {
  const typed = may.split(',').map((word) => word.trim())
  const isTyped = (set: readonly string[]) =>
    new Set(typed).symmetricDifference(new Set(set)).size === 0
  const found = SETS.find(isTyped)
  if (found) return found
  throw new CliError('usage', '--may is use, read or use,read')
}

/** Shows a token the only time that anybody will. */
export function showToken(context: Context, token: string, about: Record<string, unknown>): void {
  const { isJson, isQuiet } = context.output
  if (isJson || isQuiet) {
    context.output.record({ ...about, token }, token)
    return
  }
  context.output.record(about)
  context.output.warn('Token, shown only once. The server has never received it:')
  context.output.raw(`${token}\n`)
}
