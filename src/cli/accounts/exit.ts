/** Removes an account with its data from this machine. */
import { openApi } from '../../client/http/api.ts'
import { fromBase64 } from '../../core/crypto/encoding.ts'
import { logout } from '../../features/accounts/contract.ts'
import { getToken } from '../../features/workloads/contract.ts'
import { demandSafeAddress } from '../addresses.ts'
import type { Context } from '../context.ts'
import { openOwnValues } from '../session/own_values.ts'
import type { StoredSession } from '../session/session_store.ts'
import { type Account, endAccount } from './registry.ts'

/** Data stored with a session, by name. */
export type Wiped = { tokens: string[]; own: string[] }

export function noteWiped({ output }: Pick<Context, 'output'>, { tokens, own }: Wiped): void {
  const kept = [
    tokens.length > 0 && `tokens of agents (${tokens.join(', ')})`,
    own.length > 0 && `your own values (${own.join(', ')})`,
  ].filter(Boolean)
  if (kept.length > 0) output.note(`Also removed from this machine: ${kept.join('; ')}.`)
}

export async function endSession(context: Context, account: Account): Promise<Wiped> {
  const store = await context.accounts.store(account.slot)
  const stored = await store.read().catch(() => null)
  const own = stored === null ? [] : ownNames(context, account, stored)
  const tokens = stored === null ? [] : await agentsOf(context, stored)
  if (stored) {
    await endOnServer(context, stored).catch(() =>
      context.output.warn(
        'the server could not be reached; the session on the server ends when it expires',
      ),
    )
  }
  await store.clear()
  endAccount(context.env, account)
  return { tokens, own }
}

/** Also removes an unreadable file. */
function ownNames({ env }: Context, { slot }: Account, stored: StoredSession): string[] {
  const { server, publicKey } = stored
  const privateKey = fromBase64(stored.privateKey) ?? new Uint8Array()
  try {
    return openOwnValues(env, slot, { server, publicKey, privateKey }).names()
  } catch {
    return []
  }
}

/** Asks each token for its agent's name. Falls back to the agent's ID if the server does not answer or rejects the token. */
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
