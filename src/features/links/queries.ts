/** The rows of links. */
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { LINKS_PAGE } from '../../access/signed/chains.ts'
import { fromBase64, toBase64 } from '../../core/crypto/encoding.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import { prepareOnce } from '../../database/prepared.ts'
import { memberships, users, workspaceLinks } from '../../database/schema/index.ts'
import type { PublicIdentity, SignedText } from '../../sigchain/index.ts'

const selectAfter = prepareOnce((db) =>
  db
    .select({
      seq: workspaceLinks.seq,
      statement: workspaceLinks.statement,
      signature: workspaceLinks.signature,
    })
    .from(workspaceLinks)
    .where(
      and(
        eq(workspaceLinks.workspaceId, sql.placeholder('workspaceId')),
        gt(workspaceLinks.seq, sql.placeholder('after')),
      ),
    )
    .orderBy(asc(workspaceLinks.seq))
    .limit(LINKS_PAGE)
    .prepare('links'),
)

/** A page of a chain. */
export async function selectLinks(tx: Reading, workspaceId: string, after: number) {
  const rows = await selectAfter(tx).execute({ workspaceId, after })
  return rows.map(({ signature, ...row }) => ({ ...row, signature: toBase64(signature) }))
}

export async function insertLink(
  tx: Transaction,
  workspaceId: string,
  seq: number,
  { statement, signature }: SignedText,
): Promise<void> {
  const bytes = fromBase64(signature)
  if (bytes === null) throw new TypeError('a signature could not be verified')
  await tx.insert(workspaceLinks).values({ workspaceId, seq, statement, signature: bytes })
}

/** Whether the person is a member or invited. */
export async function hasMembership(
  tx: Reading,
  workspaceId: string,
  userId: string,
): Promise<boolean> {
  const rows = await tx
    .select({ id: memberships.id })
    .from(memberships)
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.userId, userId)))
  return rows.length > 0
}

/** A person as links name them. */
export type Named = { user_id: string; email: string } & PublicIdentity

/** Null without a signing key. */
export async function selectNamed(tx: Transaction, userId: string): Promise<Named | null> {
  const [row] = await tx
    .select({ email: users.email, signing: users.signingKey, sealing: users.publicKey })
    .from(users)
    .where(eq(users.id, userId))
  if (!row?.signing) return null
  const keys = { signing_key: toBase64(row.signing), public_key: toBase64(row.sealing) }
  return { user_id: userId, email: row.email, ...keys }
}
