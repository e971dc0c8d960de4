/** The statements of leases. Each begins with the place: $1 workspace, $2 project, $3 environment, $4 key. */

/** Longest pause before another attempt that an endpoint may ask for, in seconds. */
export const MAX_RETRY_S = 86_400
const MAX_BACKOFF_S = 300
/** Younger credentials are not expired by an upstream's 401. */
export const MIN_AGE_S = 60
export const MAX_EXPIRED_AN_HOUR = 6

const NOW = 'clock_timestamp()'
const MS = (time: string) => `(extract(epoch from ${time}) * 1000)::float8`
const AFTER = (milliseconds: string) =>
  `${NOW} + make_interval(secs => ${milliseconds}::float8 / 1000)`
const IS_PLACE = `workspace_id = $1::text::uuid and project_id = $2::text::uuid and environment = $3 and key = $4`

/** 0 represents a row without a state, because a caller that read no row may find the row of an earlier lease. */
const isFree = (row: string) => `(${row}.lease_until is null or ${row}.lease_until <= ${NOW})
  and (${row}.retry_at is null or ${row}.retry_at <= ${NOW}) and not ${row}.is_final
  and (${row}.generation = $5::text::bigint or ($5 = '0' and ${row}.state is null))`

/**
 * $5 generation, $6 lease, $7 its milliseconds, $8 token, $9 policy version. The proof is that of the audit's journal.
 * If a write of the secret ended a lease, it is unknown whether its holder sent a request.
 */
export const TAKE = `with live as (
    select w.id from workspaces w
    join tokens t on t.id = $8::text::uuid and t.workspace_id = w.id and t.revoked_at is null
      and (t.expires_at is null or t.expires_at > ${NOW})
    join secrets s on s.workspace_id = w.id and s.project_id = $2::text::uuid and s.environment = $3 and s.key = $4
    where w.id = $1::text::uuid and w.policy_version = $9::text::bigint),
  known as (select * from derived_states where ${IS_PLACE}),
  taken as (
    insert into derived_states as d (workspace_id, project_id, environment, key, generation, lease_id, lease_until)
    select id, $2::text::uuid, $3, $4, ${MS(NOW)}::bigint, $6::text::uuid, ${AFTER('$7')} from live
    where case when exists (select from known) then exists (select from known k where ${isFree('k')}) else $5 = '0' end
    on conflict (workspace_id, project_id, environment, key) do update
      set lease_id = excluded.lease_id, lease_until = excluded.lease_until,
        sent_at = case when d.lease_id is not null or d.lease_until is null then d.sent_at end
      where ${isFree('d')}
    returning d.generation::float8 as generation, d.sent_at is not null as was_sent)
  select taken.generation, taken.was_sent, ${MS(NOW)} as now, exists (select from live) as is_live,
    k.generation::float8 as known_generation, k.state is not null as has_state, k.is_final, k.failed_code,
    k.sent_at is not null as may_have_lost, ${MS('k.failed_at')} as failed_at, ${MS('k.lease_until')} as busy_until,
    ${MS('k.retry_at')} as retry_at
  from (values (1)) as one left join taken on true left join known k on true`

/** $5 lease, $6 its milliseconds. */
export const EXTEND = `update derived_states set lease_until = ${AFTER('$6')}, sent_at = coalesce(sent_at, ${NOW})
  where ${IS_PLACE} and lease_id = $5::text::uuid and lease_until > ${NOW} returning ${MS(NOW)} as now`

/** $5 lease, $6 whether an earlier holder may have sent a refresh token. */
export const RELEASE = `update derived_states set lease_id = null, lease_until = null,
    sent_at = case when $6::boolean then sent_at end
  where ${IS_PLACE} and lease_id = $5::text::uuid`

/** $5 generation, $6 state in base64, $7 when it was derived, $8 its lifetime in milliseconds. */
export const STORE = `with held as materialized (select lock_derived_workspace($1::text::uuid) as is_held)
  update derived_states d set generation = d.generation + 1, state = decode($6, 'base64'),
    derived_at = to_timestamp($7::float8 / 1000), expires_at = to_timestamp(($7::float8 + $8::float8) / 1000),
    lease_id = null, lease_until = null, sent_at = null,
    failed_at = null, failed_code = null, failures = 0, retry_at = null, is_final = false
  from held where held.is_held and ${IS_PLACE} and d.generation = $5::text::bigint returning 1 as stored`

/**
 * $5 generation, $6 lease, $7 code, $8 final, $9 seconds or null, $10 whether a token may be lost. A lease
 * without a holder is one that a write of the secret took from it: it ends, and nothing is recorded.
 */
export const FAIL = `update derived_states d set lease_id = null, lease_until = null,
    sent_at = case when d.lease_id is not null and $10::boolean then coalesce(d.sent_at, ${NOW}) end,
    failed_at = case when d.lease_id is not null then ${NOW} end,
    failed_code = case when d.lease_id is not null then $7 end,
    failures = case when d.lease_id is not null then d.failures + 1 else 0 end,
    is_final = d.lease_id is not null and $8::boolean,
    retry_at = case when d.lease_id is not null and not $8::boolean then ${NOW} + make_interval(secs =>
      coalesce($9::float8, least(${MAX_BACKOFF_S}, 2 ^ least(d.failures, 10)))) end
  where ${IS_PLACE} and d.generation = $5::text::bigint
    and (d.lease_id = $6::text::uuid or (d.lease_id is null and d.lease_until is not null))
  returning ${MS('d.failed_at')} as failed_at, ${MS('d.retry_at')} as retry_at`

/** $5 generation, $6 least age in seconds, $7 times an hour. A column's milliseconds would round up into the future. */
export const EXPIRE = `with expired as (
    update derived_states d set expires_at = date_trunc('milliseconds', ${NOW}),
      expired_count = case when d.expired_since > ${NOW} - interval '1 hour' then d.expired_count + 1 else 1 end,
      expired_since = case when d.expired_since > ${NOW} - interval '1 hour' then d.expired_since else ${NOW} end
    where ${IS_PLACE} and d.generation = $5::text::bigint and d.expires_at > ${NOW}
      and d.derived_at < ${NOW} - make_interval(secs => $6::float8)
      and (d.expired_since is null or d.expired_since <= ${NOW} - interval '1 hour' or d.expired_count < $7::int)
    returning d.workspace_id)
  select pg_notify('cloakroom_policy', workspace_id::text) from expired`
