/** How an account gets off this machine, and what goes with it. */
import { openApi } from '../../../client/http/api.ts'
import { fromBase64 } from '../../../core/crypto/encoding.ts'
import { logout } from '../../../features/accounts/contract.ts'
import { getToken } from '../../../features/workloads/contract.ts'
import { type Account, endAccount, FIRST_SLOT, readRegistry } from '../../accounts/registry.ts'
import { demandSafeAddress } from '../../addresses.ts'
import type { logOutOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import { forgetNames } from '../../completion/names.ts'
import type { Context } from '../../context.ts'
import { openOwnValues } from '../../session/own_values.ts'
import type { StoredSession } from '../../session/session_store.ts'

/** Forgets the session here even when the server cannot be told. */
export const logOut: Action<typeof logOutOptions> = async (context, _, { all }) => {
  const gone = all ? await everyAccount(context) : await oneAccount(context)
  const wiped: Wiped[] = []
  for (const account of gone) wiped.push(await endSession(context, account))
  if (gone.length === 0) await (await context.accounts.store(FIRST_SLOT)).clear()
  forgetNames(context.env)
  const [email = null] = gone.map((account) => account.email)
  const emails = gone.map((account) => account.email)
  const tokens = wiped.flatMap(({ tokens }) => tokens)
  const own = wiped.flatMap(({ own }) => own)
  context.output.done('Logged out.', { logged_out: all ? emails : email, tokens, own_values: own })
  tellWiped(context, { tokens, own })
  tellRemaining(context)
  return undefined
}

function tellRemaining({ env, output }: Context): void {
  const names = readRegistry(env).all.map(({ name }) => name)
  if (names.length > 0) output.note(`Still logged in: ${names.join(', ')}.`)
}

/** An old session that does not open is thrown away as it is. */
async function everyAccount({ accounts, env }: Context): Promise<readonly Account[]> {
  const known = await accounts.registry().catch(() => readRegistry(env))
  return known.all
}

/** @throws CliError where it is not clear who is meant */
async function oneAccount(context: Context): Promise<readonly Account[]> {
  const all = await everyAccount(context)
  if (all.length === 0 || (all.length === 1 && !(await context.accounts.named()))) return all
  return [(await context.accounts.chosen(await context.server())).account]
}

/** What was kept with a session, by name. */
export type Wiped = { tokens: string[]; own: string[] }

export function tellWiped({ output }: Pick<Context, 'output'>, { tokens, own }: Wiped): void {
  const kept = [
    tokens.length > 0 && `tokens of agents (${tokens.join(', ')})`,
    own.length > 0 && `your own values (${own.join(', ')})`,
  ].filter(Boolean)
  if (kept.length > 0) output.note(`Gone from this machine with it: ${kept.join('; ')}.`)
}

export async function endSession(context: Context, account: Account): Promise<Wiped> {
  const store = await context.accounts.store(account.slot)
  const stored = await store.read().catch(() => null)
  const own = stored === null ? [] : ownNames(context, account, stored)
  const tokens = stored === null ? [] : await agentsOf(context, stored)
  if (stored) {
    await endOnServer(context, stored).catch(() =>
      context.output.warn('the server could not be told; the session ends there when it expires'),
    )
  }
  await store.clear()
  endAccount(context.env, account)
  return { tokens, own }
}

/** A file that does not open goes all the same. */
function ownNames({ env }: Context, { slot }: Account, stored: StoredSession): string[] {
  const { server, publicKey } = stored
  const privateKey = fromBase64(stored.privateKey) ?? new Uint8Array()
  try {
    return openOwnValues(env, slot, { server, publicKey, privateKey }).names()
  } catch {
    return []
  }
}

/** A token says itself whose it is; where it cannot be asked, or is none any more, its agent's id has to do. */
function agentsOf({ insecureHttp }: Context, { server, agentTokens }: StoredSession) {
  const nameOf = async ([, token]: [string, string]) => {
    demandSafeAddress(server, insecureHttp, 'the server')
    return (await openApi(server, () => token).call(getToken, {})).name
  }
  return Promise.all(Object.entries(agentTokens).map((kept) => nameOf(kept).catch(() => kept[0])))
}

async function endOnServer(
  { insecureHttp }: Context,
  { server, access, refresh }: StoredSession,
): Promise<void> {
  demandSafeAddress(server, insecureHttp, 'the server')
  await openApi(server, () => access).call(logout, { body: { refresh_token: refresh } })
}
