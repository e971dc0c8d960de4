/** Calls of the page itself, for what is only listed and needs no key: by the same contracts, with the session's cookie. */
import { ask } from './keys/ask.ts'
import { sessionCalls } from './session.ts'

/** Where the session has ended the worker finds out too, and says so to all screens. */
export const api = sessionCalls(() => void ask('accounts.check', null).catch(() => {}))
