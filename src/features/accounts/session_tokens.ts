/**
 * The rotating tokens of a session. The next tokens are derived from the refresh token and a server key, so a lost
 * response can be repeated, and only the server can create them.
 */
import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import type { Pepper } from '../../core/crypto/pepper.ts'
import {
  formatToken,
  mintToken,
  type ParsedToken,
  tokenAuth,
  verifierOf,
} from '../../core/crypto/token.ts'
import type { Transaction } from '../../database/open.ts'
import { sessionTokens } from '../../database/schema/index.ts'

/** As long as nothing of a session is exchanged. */
export const SESSION_SECONDS = 2_592_000

const ACCESS_LIFE = sql`now() + interval '15 minutes'`
const REFRESH_LIFE = sql`now() + make_interval(secs => ${SESSION_SECONDS})`

export type SessionTokens = { access: string; refresh: string; expires_at: Date }

/** A transaction, and the key that rows of sessions are made under. */
export type Within = { tx: Transaction; pepper: Pepper }

/** `from` is the refresh token that was exchanged: the new tokens can be derived from it again. */
export async function issueTokens(
  { tx, pepper }: Within,
  { sessionId, userId }: { sessionId: string; userId: string },
  from: ParsedToken | null,
): Promise<SessionTokens> {
  const mint = (kind: 'ses' | 'ref') => {
    const { id, secret: random } = mintToken(kind)
    const secret = (from && pepper.deriveSuccessor({ kind, id }, from.secret)) ?? random
    return { id, secret, text: formatToken(kind, id, secret) }
  }
  const [access, refresh] = [mint('ses'), mint('ref')]
  const row = (kind: 'ses' | 'ref', { id, secret }: typeof access) => {
    const verifier = verifierOf(tokenAuth(id, secret))
    return { id, sessionId, verifier: pepper.sealVerifier({ kind, id, ownerId: userId }, verifier) }
  }
  const issued = await tx
    .insert(sessionTokens)
    .values([
      { ...row('ses', access), kind: 'access', expiresAt: ACCESS_LIFE },
      { ...row('ref', refresh), kind: 'refresh', expiresAt: REFRESH_LIFE },
    ])
    .returning({ kind: sessionTokens.kind, expiresAt: sessionTokens.expiresAt })
  const expiresAt = issued.find(({ kind }) => kind === 'access')?.expiresAt
  if (!expiresAt) throw new Error('an access token has no expiry')
  return { access: access.text, refresh: refresh.text, expires_at: expiresAt }
}

/** The newest tokens of a session that are looked at: a retry comes within seconds. */
const NEWEST = 20

/** The tokens issued earlier for a refresh token; null if they were exchanged or deleted. */
export async function findIssuedFrom(
  { tx, pepper }: Within,
  { sessionId, userId }: { sessionId: string; userId: string },
  from: ParsedToken,
): Promise<SessionTokens | null> {
  const rows = await tx
    .select()
    .from(sessionTokens)
    .where(and(eq(sessionTokens.sessionId, sessionId), isNull(sessionTokens.rotatedAt)))
    .orderBy(desc(sessionTokens.createdAt))
    .limit(NEWEST)
  const findIssued = (wanted: 'access' | 'refresh') => {
    const kind = wanted === 'access' ? 'ses' : 'ref'
    for (const { id, verifier, expiresAt } of rows.filter((row) => row.kind === wanted)) {
      const secret = pepper.deriveSuccessor({ kind, id }, from.secret, verifier)
      if (secret === null) continue
      const presented = verifierOf(tokenAuth(id, secret))
      const match = pepper.matchVerifier({ kind, id, ownerId: userId }, presented, verifier)
      if (match !== 'wrong') return { text: formatToken(kind, id, secret), expiresAt }
    }
    return null
  }
  const [access, refresh] = [findIssued('access'), findIssued('refresh')]
  if (access === null || refresh === null) return null
  return { access: access.text, refresh: refresh.text, expires_at: access.expiresAt }
}
