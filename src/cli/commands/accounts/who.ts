/** Who works here and with what: whoami and status. */
import { ownFingerprint } from '../../../client/account/account_keys.ts'
import { openApi } from '../../../client/http/api.ts'
import { getMe } from '../../../features/accounts/contract.ts'
import { getStatus } from '../../../features/health/contract.ts'
import type { tokenOption } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { describeToken, tokenInstead } from '../../token_work.ts'
import { unlockedUntil } from '../../unlocked/index.ts'

export const whoAmI: Action<typeof tokenOption> = async (context, _, options) => {
  const token = tokenInstead(context, options)
  if (token !== undefined) {
    context.output.record({
      ...(await describeToken(context, token)),
      server: await context.server(),
      resolver: await context.resolver(),
    })
    return undefined
  }
  const session = await context.session()
  const me = await session.api.call(getMe, {})
  const { account, why } = session.choice
  context.output.record({
    email: me.email,
    name: [me.first_name, me.last_name].filter(Boolean).join(' '),
    id: me.id,
    account: account.name,
    because: why,
    server: session.server,
    fingerprint: await ownFingerprint(session),
  })
  return undefined
}

/** Opens no session: nobody is asked for a passphrase here. */
export const status: Action<typeof tokenOption> = async (context, _, options) => {
  const token = tokenInstead(context, options)
  const server = await context.server()
  const { health, version } = await healthOf(server)
  context.output.record({
    server,
    health,
    version,
    ...(token === undefined ? {} : await describeToken(context, token)),
    ...(token === undefined ? await sessionOf(context, server) : {}),
    unlocked_until: await unlockedTime(context),
    workspace: context.settings.workspace?.value,
    project: context.settings.project?.value,
    environment: context.settings.environment?.value,
  })
  return undefined
}

async function healthOf(server: string) {
  const { status: health, version } = await openApi(server).call(getStatus, {})
  return { health, version }
}

async function sessionOf({ accounts }: Context, server: string) {
  const choice = await accounts.chosen(server).catch(nobody)
  if (choice === null) return { logged_in: 'nobody' }
  const { account, why } = choice
  const { location } = await accounts.store(account.slot)
  return { logged_in: account.email, account: account.name, because: why, session_in: location }
}

async function unlockedTime({ env }: Context): Promise<string | undefined> {
  const until = await unlockedUntil(env).catch(explained)
  return until instanceof Date ? until.toISOString() : (until ?? undefined)
}

/** What listens there and is not ours is no reason to say nothing else. */
function explained(error: unknown): string {
  return error instanceof CliError ? error.message : 'unknown'
}

function nobody(error: unknown): null {
  if (error instanceof CliError && error.code === 'not_logged_in') return null
  throw error
}
