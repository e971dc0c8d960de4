/**
 * Who calls, from headers alone. A token of the wrong kind, length, alphabet or checksum is refused
 * without a query; all refusals are one and the same 401.
 */
import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import { type ParsedToken, parseToken, verifyToken } from '../platform/crypto/token.ts'
import type { Database } from '../platform/db/open.ts'
import { sessions, sessionTokens, users } from '../platform/db/schema/index.ts'
import { Fault } from '../platform/fault.ts'
import type { Caller } from '../platform/grant.ts'

/** What an `Authorization: Bearer` header carries (RFC 6750, section 2.1); empty without one. */
export function bearerText(headers: Headers): string {
  return /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? ''
}

/**
 * The token of that header, if it is of one of the kinds.
 *
 * @throws Fault `invalid_token`
 */
export function bearerToken(headers: Headers, kinds: readonly ParsedToken['kind'][]): ParsedToken {
  const token = parseToken(bearerText(headers))
  if (!token || !kinds.includes(token.kind)) throw new Fault('invalid_token')
  return token
}

/** Finds the live session of an access token; the database's clock decides what is live. */
export async function authenticateSession(db: Database, headers: Headers): Promise<Caller> {
  const token = bearerToken(headers, ['ses'])
  const [found] = await db
    .select({
      verifier: sessionTokens.verifier,
      sessionId: sessions.id,
      userId: users.id,
      email: users.email,
      isInstanceOwner: users.isInstanceOwner,
    })
    .from(sessionTokens)
    .innerJoin(sessions, eq(sessions.id, sessionTokens.sessionId))
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(
        eq(sessionTokens.id, token.id),
        eq(sessionTokens.kind, 'access'),
        gt(sessionTokens.expiresAt, sql`now()`),
        isNull(sessions.revokedAt),
      ),
    )
  if (!found || !verifyToken(token, found.verifier)) throw new Fault('invalid_token')
  const { verifier: _, ...caller } = found
  return caller
}
