/**
 * The id that a client gives its record, as it is stored: behind the reporter's id. The uniqueness of stored IDs (by an
 * index, or a table for partitions) then separates reporters: an agent that guesses or sees another agent's ids can
 * neither occupy them nor learn whether they are used.
 */
import { sql } from 'drizzle-orm'
import { auditLogs } from '../../database/schema/index.ts'

type Owned = Partial<Record<'registrationId' | 'userId' | 'tokenId', string | null | undefined>>

/** The agent or person, who keeps its ids when its token or session changes; a workload is its token. */
export function ownerOf({ registrationId, userId, tokenId }: Owned): string | null {
  return registrationId ?? userId ?? tokenId ?? null
}

export function deriveStoredClientId(reporter: Owned, clientId: string): string {
  return `${ownerOf(reporter)} ${clientId}`
}

const { clientId, registrationId, userId, tokenId } = auditLogs
const prefix = sql`coalesce(${registrationId}, ${userId}, ${tokenId})::text || ' '`

/** As the client gave it. Rows of earlier versions have no reporter in it. */
export const shownClientId = sql<string | null>`
  case when starts_with(${clientId}, ${prefix}) then substr(${clientId}, length(${prefix}) + 1) else ${clientId} end`
