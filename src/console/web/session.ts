/**
 * Calls with the session's cookies. Neither the page nor the keys' worker can read the cookies. Expired tokens are
 * renewed once for all tabs.
 */
import { type Api, ApiError, callsWithin, openApi } from '../../client/http/api.ts'
import { consoleRefresh, getMe } from '../../features/accounts/contract.ts'
import { rejectLost } from './lost_answer.ts'

const LOCK = 'cloakroom-session'

const direct = openApi(location.origin)

/** `ended` is called if the session cannot be renewed. @throws LostAnswer for a change without an answer */
export function sessionCalls(ended: () => void): Api {
  return callsWithin(direct, async (send, { method }) => {
    const call = () => (method === 'GET' ? send() : send().catch(rejectLost))
    try {
      return await call()
    } catch (error) {
      if (!isExpired(error)) throw error
    }
    try {
      await navigator.locks.request(LOCK, renew)
    } catch (error) {
      if (isExpired(error)) ended()
      throw error
    }
    return call()
  })
}

/** Checks first, because another tab may have renewed the session meanwhile. */
async function renew(): Promise<void> {
  try {
    await direct.call(getMe, {})
  } catch (error) {
    if (!isExpired(error)) throw error
    await direct.call(consoleRefresh, {})
  }
}

function isExpired(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'invalid_token'
}
