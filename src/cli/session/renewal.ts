/** Calls of a session whose tokens are renewed, by this process or another one that shares them. */
import { type Api, ApiError, callsWithin, NO_CODE, openApi } from '../../client/http/api.ts'
import { CliError } from '../terminal/cli_error.ts'
import type { SessionStore, StoredSession } from './session_store.ts'

/** Calls with the access token; when it has expired, with a new one. */
export function withRenewal(store: SessionStore, stored: StoredSession): Api {
  const direct = openApi(stored.server, () => stored.access)
  let renewal: Promise<void> | undefined
  const runRenewed = async <T>(act: () => Promise<T>): Promise<T> => {
    const { access } = stored
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'invalid_token') throw error
      // One of several parallel requests renews the session for all.
      if (stored.access === access)
        renewal ??= renew(store, stored).finally(() => {
          renewal = undefined
        })
      await renewal
      return act()
    }
  }
  return callsWithin(direct, runRenewed)
}

/** Another process may have renewed the session already, or be about to: then its tokens are taken. */
function renew(store: SessionStore, stored: StoredSession): Promise<void> {
  return store.exclusively(() => renewAlone(store, stored))
}

async function renewAlone(store: SessionStore, stored: StoredSession): Promise<void> {
  if (await takeSuccessor(store, stored)) return
  // Exchanged, the token is worth nothing: on a full disk the session would end with it.
  store.demandRoom()
  try {
    const pair = await exchange(stored)
    const { access, refresh: next } = pair
    Object.assign(stored, { access, refresh: next })
    // Another command may have changed other data of the session.
    const latest = await store.read()
    const isSame = latest !== null && latest.email === stored.email
    await store.write({ ...(isSame ? latest : stored), access, refresh: next })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 'invalid_token') throw buildEndedError(stored)
    if (error.code !== 'conflict') throw error
    await waitForSuccessor(store, stored)
  }
}

/** A lost answer is asked for once more: the server gives the same tokens again. */
async function exchange({ server, refresh: token }: StoredSession) {
  const { refresh } = await import('../../features/accounts/contract.ts')
  const ask = () => openApi(server).call(refresh, { body: { refresh: token } })
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ApiError && error.code !== NO_CODE) throw error
    return ask()
  }
}

function buildEndedError({ email }: StoredSession): CliError {
  return new CliError(
    'session_ended',
    `the session of ${email} expired or was ended elsewhere, for example by a password change`,
    `sign in again with: cloakroom login ${email}`,
  )
}

const SUCCESSOR_TRIES = 50
const SUCCESSOR_WAIT_MS = 100

/** The process that got the new tokens still has to write them. */
async function waitForSuccessor(store: SessionStore, stored: StoredSession): Promise<void> {
  for (let attempt = 0; attempt < SUCCESSOR_TRIES; attempt += 1) {
    if (await takeSuccessor(store, stored)) return
    await Bun.sleep(SUCCESSOR_WAIT_MS)
  }
  throw new CliError(
    'session_ended',
    'the session was renewed elsewhere',
    `sign in again with: cloakroom login ${stored.email}`,
  )
}

async function takeSuccessor(store: SessionStore, stored: StoredSession): Promise<boolean> {
  const latest = await store.read()
  if (!latest || latest.access === stored.access || latest.email !== stored.email) return false
  Object.assign(stored, latest)
  return true
}
