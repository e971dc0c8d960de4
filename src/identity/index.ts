/** Authentication and authorisation, as `serve` needs them. */
import type { Database } from '../platform/db/open.ts'
import type { Identity } from '../platform/http/route.ts'
import { authenticateSession } from './authenticate.ts'
import { authorise } from './authorise.ts'

export function openIdentity(db: Database): Identity {
  return { authenticate: (headers) => authenticateSession(db, headers), authorise }
}
