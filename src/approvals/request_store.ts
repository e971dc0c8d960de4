/**
 * Requests to use held secrets, for the calls that make them (protocol 14.2). Times go by the database's clock, in
 * milliseconds since 1970.
 */
import type postgres from 'postgres'
import { Fault } from '../core/fault.ts'

export type UsedSecret = { project_id: string; environment: string; key: string; held: boolean }

/** A call as it is stored. `details` are under the outer layer. */
export type NewRequest = {
  id: string
  workspaceId: string
  tokenId: string
  registrationId: string | null
  agent: string
  digest: string
  host: string
  method: string
  secrets: readonly UsedSecret[]
  bodyBytes: number | null
  bodyType: string | null
  details: Uint8Array
}

/** `changed`: a release that is newer than the caller's version may fit. `absent`: there is no request for the call. */
export type RequestState =
  | { kind: 'changed' }
  | { kind: 'absent' }
  | { kind: 'denied'; id: string; until: number }
  | { kind: 'pending'; id: string; expiresAt: number }

type Asked = Pick<NewRequest, 'workspaceId' | 'tokenId' | 'digest' | 'secrets'>

/** Limits for one agent with all its tokens. Denied requests count towards the hourly limit. */
const MAX_PENDING = 20
const MAX_AN_HOUR = 60
const MAX_PENDING_IN_WORKSPACE = 200
/** Ended requests of a workspace that keep their details, and a workspace's rows. */
const MAX_DETAILS = 500
const MAX_ROWS = 10_000
/** First half of the key of the advisory lock; the second is a hash of the workspace. */
const LOCK = 6_021_031

const LOOK_UP = `select w.policy_version::float8 as version, a.id, a.status, a.until,
    exists (select from approvals r where r.workspace_id = w.id and r.token_id = $2::uuid and r.status = 'released'
      and r.expires_at > now() and (r.digest = $3 or r.scope is not null)) as "isReleased"
  from workspaces w left join lateral (
    select id, status, (extract(epoch from case when status = 'pending' then expires_at
        else greatest(decided_at + interval '1 hour', muted_until) end) * 1000)::float8 as until
    from approvals a
    where a.workspace_id = w.id and a.token_id = $2::uuid and (
      a.status = 'pending' and a.digest = $3 and a.expires_at > now()
      or a.status = 'denied' and a.digest = $3 and a.decided_at > now() - interval '1 hour'
      or a.status in ('denied', 'revoked') and a.muted_until > now() and exists (
        select from jsonb_array_elements(a.secrets) as muted, jsonb_array_elements($4::text::jsonb) as asked
        where muted = asked and (asked ->> 'held')::boolean))
    order by status = 'pending', until desc limit 1) as a on true
  where w.id = $1::uuid`

const EXPIRE = `update approvals set status = 'expired'
  where workspace_id = $1::uuid and status = 'pending' and expires_at <= now()`

const COUNT = `select
    count(*) filter (where is_own and status = 'pending' and expires_at > now())::int as pending,
    count(*) filter (where is_own)::int as hourly,
    count(*) filter (where status = 'pending' and expires_at > now())::int as all_pending
  from (select status, expires_at, coalesce(registration_id, token_id) = coalesce($3::text::uuid, $2::uuid) as is_own
    from approvals where workspace_id = $1::uuid and requested_at > now() - interval '1 hour') as recent`

const INSERT = `insert into approvals (id, workspace_id, token_id, registration_id, agent, digest, host, method, secrets,
    body_bytes, body_type, details, requested_at, expires_at)
  values ($1::uuid, $2::uuid, $3::uuid, $4::text::uuid, $5, $6, $7, $8, $9::text::jsonb, $10::text::int, $11, $12, now(),
    now() + interval '15 minutes')
  on conflict (token_id, digest) where status = 'pending' do nothing
  returning (extract(epoch from expires_at) * 1000)::float8 as "expiresAt"`

const DROP_DETAILS = `update approvals set details = null where id in (
  select id from approvals where workspace_id = $1::uuid and details is not null and status <> 'pending'
  order by requested_at desc offset ${MAX_DETAILS})`

const DROP_ROWS = `delete from approvals where id in (
  select id from approvals where workspace_id = $1::uuid and envelopes is null and status not in ('pending', 'released')
  order by requested_at desc offset ${MAX_ROWS})`

const CLAIM = `update approvals set status = 'used', used_at = now(), used_by = $2::uuid
  where id = $1::uuid and scope is null and (status = 'released' and expires_at > now() or used_by = $2::uuid)
  returning id`

const DECIDED = `select id from approvals
  where id = any ($1::text::uuid[]) and (status <> 'pending' or expires_at <= now())`

export class RequestStore {
  readonly #sql: postgres.Sql

  constructor(sql: postgres.Sql) {
    this.#sql = sql
  }

  /** The state of a call that no release fits, by the policy version that the caller read. */
  async lookUp(asked: Asked, policyVersion: number): Promise<RequestState> {
    const { workspaceId, tokenId, digest } = asked
    const [row] = await this.#sql.unsafe<
      {
        version: number
        id: string | null
        status: string
        until: number
        isReleased: boolean
      }[]
    >(LOOK_UP, [workspaceId, tokenId, digest, JSON.stringify(asked.secrets)], { prepare: true })
    if (!row || (row.isReleased && row.version !== policyVersion)) return { kind: 'changed' }
    const { id, status, until } = row
    if (id === null) return { kind: 'absent' }
    return status === 'pending'
      ? { kind: 'pending', id, expiresAt: until }
      : { kind: 'denied', id, until }
  }

  /**
   * Stores a request, unless an equal one is already pending. Requests of one workspace are counted sequentially.
   *
   * @throws Fault `rate_limited`
   */
  async insert(request: NewRequest): Promise<'inserted' | 'pending'> {
    const { workspaceId, tokenId, digest } = request
    return (await this.#sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${LOCK}::int, hashtext(${workspaceId}))`
      await tx.unsafe(EXPIRE, [workspaceId])
      const [counts] = await tx.unsafe<{ pending: number; hourly: number; all_pending: number }[]>(
        COUNT,
        [workspaceId, tokenId, request.registrationId],
      )
      const values = valuesOf(request)
      const isNew =
        (
          await tx`select 1 from approvals where token_id = ${tokenId} and digest = ${digest}
        and status = 'pending'`
        ).length === 0
      if (!isNew) return 'pending'
      if (counts) requireRoom(counts)
      const inserted = await tx.unsafe(INSERT, values)
      await tx.unsafe(DROP_DETAILS, [workspaceId])
      await tx.unsafe(DROP_ROWS, [workspaceId])
      return inserted.length > 0 ? 'inserted' : 'pending'
    })) as 'inserted' | 'pending'
  }

  /** Marks a release of one call as used, before the call is recorded. Returns whether it is this call's. */
  async claim(id: string, callId: string): Promise<boolean> {
    const claimed = await this.#sql.unsafe(CLAIM, [id, callId], { prepare: true })
    return claimed.length > 0
  }

  /** Returns the requests among these that are no longer pending. */
  async listDecided(ids: readonly string[]): Promise<string[]> {
    const rows = await this.#sql.unsafe<{ id: string }[]>(DECIDED, [`{${ids.join()}}`])
    return rows.map(({ id }) => id)
  }
}

function valuesOf(request: NewRequest) {
  const { id, workspaceId, tokenId, registrationId, agent, digest, host, method } = request
  const { secrets, bodyBytes, bodyType, details } = request
  const bytes = bodyBytes === null ? null : String(bodyBytes)
  const list = JSON.stringify(secrets)
  const blob = Buffer.from(details)
  return [
    ...[id, workspaceId, tokenId, registrationId, agent, digest, host, method],
    ...[list, bytes, bodyType, blob],
  ]
}

function requireRoom(counts: { pending: number; hourly: number; all_pending: number }): void {
  if (counts.pending >= MAX_PENDING)
    throw buildTooManyFault(`An agent can have at most ${MAX_PENDING} pending approval requests.`)
  if (counts.hourly >= MAX_AN_HOUR)
    throw buildTooManyFault(`An agent can make at most ${MAX_AN_HOUR} approval requests per hour.`)
  if (counts.all_pending >= MAX_PENDING_IN_WORKSPACE)
    throw buildTooManyFault(
      `A workspace can have at most ${MAX_PENDING_IN_WORKSPACE} pending approval requests.`,
    )
}

function buildTooManyFault(sentence: string): Fault {
  return new Fault('rate_limited', {
    message: `${sentence} Wait until a member decides some.`,
    headers: { 'retry-after': '60' },
  })
}
