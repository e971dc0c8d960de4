/** Authentication and authorisation, as `serve` needs them. */
import type { Identity } from '../http/route.ts'
import { authenticateSession, type Sessions } from './authenticate.ts'
import { authorise } from './authorise.ts'

export function openIdentity(sessions: Sessions): Identity {
  return { authenticate: (headers) => authenticateSession(sessions, headers), authorise }
}
