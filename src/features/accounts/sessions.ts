/**
 * Sessions (protocol 5.1): an access token for 15 minutes and a refresh token for 30 days, which is
 * rotated. A refresh token that comes back after its rotation was copied, so the whole
 * session ends. Within ten seconds its answer was lost, or the client races with itself: then it gets the same successor
 * again. The database's clock decides, and its rows hold MACs of verifiers, which are no tokens.
 */
import { and, desc, eq, gt, isNull, lt, max, ne, notExists, type SQL, sql } from 'drizzle-orm'
import type { Pepper } from '../../core/crypto/pepper.ts'
import { deriveVerifier, type ParsedToken, parseToken } from '../../core/crypto/token.ts'
import { Fault } from '../../core/fault.ts'
import type { Database, Transaction } from '../../database/open.ts'
import { sessions, sessionTokens } from '../../database/schema/index.ts'
import type { Page } from '../../http/page.ts'
import { findIssuedFrom, issueTokens, type SessionTokens, type Within } from './session_tokens.ts'

const GRACE = sql`now() - interval '10 seconds'`

const MAX_USER_AGENT = 256

/** The account of a session, and the passkey that opened it. A session ends with its passkey. */
export type Opener = { userId: string; userAgent: string; passkeyId: string | null }

/** Opens a session, and deletes the person's ended sessions. */
export async function startSession(
  { tx, pepper }: Within,
  { userId, userAgent, passkeyId }: Opener,
): Promise<SessionTokens> {
  const sessionId = Bun.randomUUIDv7()
  const row = { id: sessionId, userId, passkeyId, userAgent: printable(userAgent) }
  // In this order: a session without tokens counts as dead.
  const [, , tokens] = await Promise.all([
    deleteDeadSessions(tx, userId),
    insertSession(tx, row),
    issueTokens({ tx, pepper }, { sessionId, userId }, null),
  ])
  return tokens
}

async function insertSession(tx: Transaction, row: typeof sessions.$inferInsert): Promise<void> {
  await tx.insert(sessions).values(row)
}

/** A header may hold what breaks a line or drives a terminal. */
function printable(userAgent: string): string {
  return userAgent.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_USER_AGENT)
}

async function deleteDeadSessions(tx: Transaction, userId: string): Promise<void> {
  const liveTokens = tx
    .select({ id: sessionTokens.id })
    .from(sessionTokens)
    .where(and(eq(sessionTokens.sessionId, sessions.id), gt(sessionTokens.expiresAt, sql`now()`)))
  await tx.delete(sessions).where(and(eq(sessions.userId, userId), notExists(liveTokens)))
}

/**
 * Exchanges a refresh token for new tokens; the same ones again within ten seconds.
 *
 * @throws Fault `invalid_token`; `conflict` if these were also exchanged
 */
export async function rotateTokens(
  { db, pepper }: { db: Database; pepper: Pepper },
  refreshToken: string,
): Promise<SessionTokens> {
  const token = parseToken(refreshToken)
  if (token?.kind !== 'ref') throw new Fault('invalid_token')
  // A reuse must be remembered, hence the transaction ends well and the refusal follows it.
  const rotation = await db.transaction((tx) => rotateWithin({ tx, pepper }, token))
  if (rotation === 'refused') throw new Fault('invalid_token')
  if (rotation === 'raced') {
    throw new Fault('conflict', { message: 'The refresh token was just exchanged.' })
  }
  return rotation
}

async function rotateWithin(
  { tx, pepper }: Within,
  token: ParsedToken,
): Promise<SessionTokens | 'refused' | 'raced'> {
  const found = await lockRefreshToken({ tx, pepper }, token)
  if (!found) return 'refused'
  const { sessionId, userId, rotated } = found
  if (rotated === 'lately') return (await findIssuedFrom({ tx, pepper }, found, token)) ?? 'raced'
  if (rotated === 'before') {
    await revokeSessions(tx, eq(sessions.id, sessionId))
    return 'refused'
  }
  const [tokens] = await Promise.all([
    issueTokens({ tx, pepper }, { sessionId, userId }, token),
    tx.update(sessionTokens).set({ rotatedAt: sql`now()` }).where(eq(sessionTokens.id, token.id)),
    tx.update(sessions).set({ lastUsedAt: sql`now()` }).where(eq(sessions.id, sessionId)),
    tx
      .delete(sessionTokens)
      .where(and(eq(sessionTokens.sessionId, sessionId), lt(sessionTokens.expiresAt, sql`now()`))),
  ])
  return tokens
}

/** The locked row of a live refresh token. A concurrent request sees the result. */
async function lockRefreshToken({ tx, pepper }: Within, token: ParsedToken) {
  const [found] = await tx
    .select({
      sessionId: sessions.id,
      userId: sessions.userId,
      verifier: sessionTokens.verifier,
      rotated: sql<'never' | 'lately' | 'before'>`case
        when ${sessionTokens.rotatedAt} is null then 'never'
        when ${sessionTokens.rotatedAt} > ${GRACE} then 'lately'
        else 'before' end`,
    })
    .from(sessionTokens)
    .innerJoin(sessions, eq(sessions.id, sessionTokens.sessionId))
    .where(
      and(
        eq(sessionTokens.id, token.id),
        eq(sessionTokens.kind, 'refresh'),
        gt(sessionTokens.expiresAt, sql`now()`),
        isNull(sessions.revokedAt),
      ),
    )
    .for('update', { of: sessionTokens })
  return isProven(pepper, token, found) ? found : null
}

type StoredRefresh = { userId: string; verifier: Uint8Array }

/** Takes as long without a row as with one that does not fit. */
function isProven<Row extends StoredRefresh>(
  pepper: Pepper,
  token: ParsedToken,
  row: Row | undefined,
): row is Row {
  const identity = row ? ({ kind: 'ref', id: token.id, ownerId: row.userId } as const) : null
  const verifier = deriveVerifier(token)
  return pepper.matchVerifier(identity, verifier, row?.verifier ?? null) !== 'wrong'
}

/** The caller's live sessions, newest first; one row more than the page holds. */
export function selectSessions(db: Database, userId: string, { after: [before], limit }: Page) {
  const expiresAt = max(sessionTokens.expiresAt)
  return db
    .select({
      id: sessions.id,
      user_agent: sessions.userAgent,
      last_used_at: sessions.lastUsedAt,
      expires_at: expiresAt,
      created_at: sessions.createdAt,
    })
    .from(sessions)
    .innerJoin(sessionTokens, eq(sessionTokens.sessionId, sessions.id))
    .where(
      and(
        eq(sessions.userId, userId),
        isNull(sessions.revokedAt),
        gt(sessionTokens.expiresAt, sql`now()`),
        before === undefined ? undefined : lt(sessions.id, before),
      ),
    )
    .groupBy(sessions.id)
    .orderBy(desc(sessions.id))
    .limit(limit + 1)
}

/** Ends one session of a person; returns false if it does not exist. */
export async function endOwnSession(
  db: Database | Transaction,
  userId: string,
  sessionId: string,
): Promise<boolean> {
  return (
    (await revokeSessions(db, and(eq(sessions.userId, userId), eq(sessions.id, sessionId)))) > 0
  )
}

/** Ends all sessions of a person, or all but one. */
export async function revokeAllSessions(
  tx: Transaction,
  userId: string,
  { except }: { except?: string } = {},
): Promise<void> {
  const others = except === undefined ? undefined : ne(sessions.id, except)
  await revokeSessions(tx, and(eq(sessions.userId, userId), others))
}

/** The session of a person that a refresh token belongs to, live or not. */
export async function findSessionOf(
  { db, pepper }: { db: Database; pepper: Pepper },
  userId: string,
  token: ParsedToken,
): Promise<string | null> {
  const [found] = await db
    .select({
      sessionId: sessions.id,
      userId: sessions.userId,
      verifier: sessionTokens.verifier,
    })
    .from(sessionTokens)
    .innerJoin(sessions, eq(sessions.id, sessionTokens.sessionId))
    .where(and(eq(sessionTokens.id, token.id), eq(sessions.userId, userId)))
  return isProven(pepper, token, found) ? found.sessionId : null
}

async function revokeSessions(db: Database | Transaction, which: SQL | undefined): Promise<number> {
  const revoked = await db
    .update(sessions)
    .set({ revokedAt: sql`now()` })
    .where(and(which, isNull(sessions.revokedAt)))
    .returning({ id: sessions.id })
  return revoked.length
}
