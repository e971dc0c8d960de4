/**
 * Identifies a caller from headers alone. A token with a wrong kind, length, alphabet or checksum is refused without a
 * query. All refusals are the same 401.
 */
import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import type { Pepper } from '../core/crypto/pepper.ts'
import { deriveVerifier, type ParsedToken, parseToken } from '../core/crypto/token.ts'
import { Fault } from '../core/fault.ts'
import type { Caller } from '../core/grant.ts'
import { permits } from '../core/roles.ts'
import type { Database } from '../database/open.ts'
import { prepareOnce } from '../database/prepared.ts'
import { sessions, sessionTokens, users } from '../database/schema/index.ts'
import { consoleCookies } from '../http/console_cookies.ts'
import type { IdentityService } from '../http/route.ts'
import { authorise } from './authorise.ts'
import { Memory } from './memory.ts'

/** Returns the token of an `Authorization: Bearer` header (RFC 6750, section 2.1); empty without one. */
export function bearerText(headers: Headers): string {
  return /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? ''
}

/**
 * Returns the access token of that header or, without one, of the console's cookies. A refused token in the header is
 * not replaced by a cookie.
 *
 * @throws Fault `invalid_token`
 */
function accessToken(headers: Headers): ParsedToken {
  const text = headers.has('authorization')
    ? bearerText(headers)
    : (consoleCookies(headers)?.access ?? '')
  const token = parseToken(text)
  if (token?.kind !== 'ses') throw new Fault('invalid_token')
  return token
}

/** The source for verifying sessions: the database with their rows, and the key that the rows are sealed under. */
export type SessionSource = { db: Database; pepper: Pepper }

/** The last use is accurate to a minute, so that requests rarely write. */
const isUseOld = sql`${sessions.lastUsedAt} < now() - interval '1 minute'`

const noteUse = prepareOnce((db) =>
  db
    .update(sessions)
    .set({ lastUsedAt: sql`now()` })
    .where(and(eq(sessions.id, sql.placeholder('id')), isUseOld))
    .prepare('session_use'),
)

const selectSession = prepareOnce((db) =>
  db
    .select({
      verifier: sessionTokens.verifier,
      sessionId: sessions.id,
      userId: users.id,
      email: users.email,
      isInstanceOwner: users.isInstanceOwner,
      isUseOld: sql<boolean>`${isUseOld}`,
    })
    .from(sessionTokens)
    .innerJoin(sessions, eq(sessions.id, sessionTokens.sessionId))
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(
        eq(sessionTokens.id, sql.placeholder('id')),
        eq(sessionTokens.kind, 'access'),
        gt(sessionTokens.expiresAt, sql`now()`),
        isNull(sessions.revokedAt),
      ),
    )
    .prepare('session'),
)

const selectLive = prepareOnce((db) =>
  db
    .select({ id: sessions.id })
    .from(sessions)
    .where(
      and(
        eq(sessions.id, sql.placeholder('id')),
        isNull(sessions.revokedAt),
        sql`exists (select from ${sessionTokens}
          where ${sessionTokens.sessionId} = ${sessions.id} and ${sessionTokens.expiresAt} > now())`,
      ),
    )
    .prepare('session_live'),
)

/** Requires a live session for work that outlasts a request. @throws Fault `invalid_token` if the session has ended */
export async function requireSession(db: Database, { sessionId }: Caller): Promise<void> {
  const rows = await selectLive(db).execute({ id: sessionId })
  if (rows.length === 0) throw new Fault('invalid_token')
}

/** Finds the live session of an access token, by the database's clock. */
async function findSession(
  { db, pepper, memory }: SessionSource & { memory: Memory },
  token: ParsedToken,
): Promise<Caller> {
  const [found] = await selectSession(db).execute({ id: token.id })
  const identity = found ? ({ kind: 'ses', id: token.id, ownerId: found.userId } as const) : null
  const match = pepper.matchVerifier(identity, deriveVerifier(token), found?.verifier ?? null)
  if (!found || match === 'wrong') throw new Fault('invalid_token')
  const { verifier, isUseOld, ...caller } = found
  if (isUseOld) await noteUse(db).execute({ id: caller.sessionId })
  memory.keepSession(token, verifier, caller)
  return caller
}

export function openIdentity(sessions: SessionSource): IdentityService {
  const memory = new Memory(sessions.db)
  const recallGrant: IdentityService['recallGrant'] = (caller, permission, resource) => {
    const grant = memory.grant(caller, resource)
    return grant && permits(grant.role, permission) ? grant : null
  }
  return {
    authenticate: async (headers) => {
      const token = accessToken(headers)
      const known = memory.session(token)
      if (known && (await memory.holds(known))) return known.caller
      return findSession({ ...sessions, memory }, token)
    },
    authorise: async (db, caller, permission, resource) => {
      try {
        const grant = await authorise(db, caller, permission, resource)
        memory.keepGrant(grant, resource)
        return grant
      } catch (error) {
        // Otherwise the next write would begin with the old role, and wait for the workspace's lock before it is refused.
        memory.forgetGrant(caller, resource)
        throw error
      }
    },
    recall: (headers, permission, resource) => {
      const known = memory.session(accessToken(headers))
      const grant = known && recallGrant(known.caller, permission, resource)
      return grant && { caller: known.caller, grant, holds: () => memory.holds(known, grant) }
    },
    recallGrant,
  }
}
