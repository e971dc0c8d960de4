/** The page's own calls, for lists that need no key. They use the same contracts, with the session's cookie. */
import { ask } from './keys/ask.ts'
import { sessionCalls } from './session.ts'

/** If the session has ended, the worker checks it and notifies all screens. */
export const api = sessionCalls(() => void ask('accounts.check', null).catch(() => {}))
