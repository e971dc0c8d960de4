/**
 * Recent callers, and their roles. No entry is trusted by itself: one statement, shared by simultaneous requests,
 * checks whether session, account, membership and project are unchanged. So no cached entry is older than the answer,
 * and a changed entry is read again.
 */
import { timingSafeEqual } from 'node:crypto'
import { Grouped } from '../core/async/grouped.ts'
import { sha256 } from '../core/crypto/primitives.ts'
import type { ParsedToken } from '../core/crypto/token.ts'
import type { Caller, Grant, ProjectGrant, ResourceRef } from '../core/grant.ts'
import { LruMap } from '../core/lru.ts'
import type { Database } from '../database/open.ts'
import { clientOf } from '../database/prepared.ts'

const MAX_REMEMBERED = 20_000

/** Returns the numbers of the entries that still hold. `last_used_at` must be updated once a minute. */
const HOLDS = `select string_agg(p.number::text, ' ') as holding
  from json_to_recordset($1::text::json) as p(number integer, token_id uuid, verifier text, session_id uuid, user_id uuid,
    email text, is_owner boolean, workspace_id uuid, role text, project_id uuid, project_name text)
  join session_tokens t on t.id = p.token_id and t.session_id = p.session_id and t.kind = 'access'
    and t.verifier = decode(p.verifier, 'hex') and t.expires_at > now()
  join sessions s on s.id = p.session_id and s.user_id = p.user_id and s.revoked_at is null
    and s.last_used_at >= now() - interval '1 minute'
  join users u on u.id = p.user_id and u.email = p.email and u.is_instance_owner = p.is_owner
  left join memberships m on m.workspace_id = p.workspace_id and m.user_id = p.user_id and m.status = 'active'
  left join projects j on j.id = p.project_id and j.workspace_id = p.workspace_id and j.name = p.project_name
  where (p.workspace_id is null or m.role = p.role) and (p.project_id is null or j.id is not null)`

/** A session that was found: `verifier` is that of its row. */
type Known = { tokenId: string; digest: Uint8Array; verifier: string; caller: Caller }
type Row = { holding: string | null }
type Question = { known: Known; grant: Grant | ProjectGrant | undefined }

export class Memory {
  readonly #sessions = new LruMap<string, Known>({ max: MAX_REMEMBERED })
  readonly #grants = new LruMap<string, Grant>({ max: MAX_REMEMBERED })
  readonly #holding: Grouped<Question, boolean>

  constructor(db: Database) {
    this.#holding = new Grouped((questions) => askAll(db, questions), { size: 64, width: 2 })
  }

  keepSession(token: ParsedToken, verifier: Uint8Array, caller: Caller): void {
    const known = { tokenId: token.id, digest: digestOf(token), verifier: verifier.toHex(), caller }
    this.#sessions.set(token.id, known)
  }

  keepGrant(grant: Grant, resource: ResourceRef): void {
    const name = nameOf(grant.userId, resource)
    if (name !== null) this.#grants.set(name, grant)
  }

  forgetGrant({ userId }: Caller, resource: ResourceRef): void {
    const name = nameOf(userId, resource)
    if (name !== null) this.#grants.delete(name)
  }

  /** Returns the caller who presented this token earlier. */
  session(token: ParsedToken): Known | null {
    const known = this.#sessions.get(token.id)
    return known && timingSafeEqual(known.digest, digestOf(token)) ? known : null
  }

  grant({ userId, email }: Caller, resource: ResourceRef): Grant | null {
    const name = nameOf(userId, resource)
    const grant = name === null ? undefined : this.#grants.get(name)
    // Records name the caller by email.
    return grant?.email === email ? grant : null
  }

  /** Whether everything is as remembered. Forgets entries that are not. */
  async holds(known: Known, grant?: Grant): Promise<boolean> {
    const isHolding = await this.#holding.run({ known, grant })
    if (!isHolding) this.#sessions.delete(known.tokenId)
    return isHolding
  }
}

async function askAll(db: Database, questions: readonly Question[]): Promise<boolean[]> {
  const asked = questions.map(({ known, grant }, number) => ({
    number,
    token_id: known.tokenId,
    verifier: known.verifier,
    session_id: known.caller.sessionId,
    user_id: known.caller.userId,
    email: known.caller.email,
    is_owner: known.caller.isInstanceOwner,
    workspace_id: grant?.workspaceId,
    role: grant?.role,
    ...(grant &&
      'projectId' in grant && { project_id: grant.projectId, project_name: grant.projectName }),
  }))
  const parameters = [JSON.stringify(asked)]
  const rows = clientOf(db).unsafe<Row[]>(HOLDS, parameters, { prepare: true })
  const [row] = await rows
  const holding = new Set((row?.holding ?? '').split(' '))
  return asked.map(({ number }) => holding.has(String(number)))
}

/** Returns the digest of the presented secret, so that the secret is not kept. */
function digestOf({ secret }: ParsedToken): Uint8Array {
  return sha256(secret)
}

/** Returns null if the resource depends on more than its name: the active workspace, and deleted projects. */
function nameOf(userId: string, resource: ResourceRef): string | null {
  const { workspaceId, projectId, projectName, deletedProjectId } = resource
  if (deletedProjectId !== undefined || (workspaceId ?? projectId) === undefined) return null
  return JSON.stringify([userId, workspaceId, projectId, projectName])
}
