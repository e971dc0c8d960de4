/** Finds unfinished work: tokens, workspaces, signatures, keys. Reports counts only: names are untrusted text. */
import { type Check, type Found, type Patient, warn } from './check.ts'
import { count, numbers } from './measure.ts'

const SOON_DAYS = 7
const UNUSED_DAYS = 30
const TOKENS = 'docs/guides/access.md#tokens'
const SIGNED = 'docs/internals/signed-workspaces.md'
const NOW = '(select now from clock)'
const LIVE = `revoked_at is null and (expires_at is null or expires_at > ${NOW})`
/** The version of a workspace's id marks it as signed. */
const IS_SIGNED = (id: string) => `substring(${id}::text from 15 for 1) = '8'`
/** In hours, because a day in the database's time zone can have 23 or 25. */
const days = (number: number) => `interval '${number * 24} hours'`

export const peopleChecks: readonly Check<Patient>[] = [
  createCountingCheck({
    name: 'tokens_without_end',
    docs: TOKENS,
    counted: `tokens where ${LIVE} and expires_at is null`,
    well: 'every token expires',
    one: 'token never expires',
    many: 'tokens never expire',
    todo: 'ask members to revoke them and issue others with --expires-in-days',
  }),
  createCountingCheck({
    name: 'tokens_ending',
    docs: TOKENS,
    counted: `tokens where ${LIVE} and expires_at <= ${NOW} + ${days(SOON_DAYS)}`,
    well: `no token expires within ${SOON_DAYS} days`,
    one: `token expires within ${SOON_DAYS} days`,
    many: `tokens expire within ${SOON_DAYS} days`,
    todo: 'ask members to issue new ones; cloakroom token list shows when each expires',
  }),
  createCountingCheck({
    name: 'tokens_ended',
    docs: TOKENS,
    counted: `tokens where revoked_at is null and expires_at <= ${NOW} and expires_at > ${NOW} - ${days(SOON_DAYS)}`,
    well: `no token expired in the last ${SOON_DAYS} days`,
    one: `token expired in the last ${SOON_DAYS} days`,
    many: `tokens expired in the last ${SOON_DAYS} days`,
    todo: 'check that nobody uses them: their calls return 401',
  }),
  createCountingCheck({
    name: 'tokens_unused',
    docs: TOKENS,
    counted: `tokens where ${LIVE} and last_used_at is null and created_at < ${NOW} - ${days(UNUSED_DAYS)}
      and not exists (select from token_uses u where u.token_id = tokens.id)`,
    well: `every token older than ${UNUSED_DAYS} days was used`,
    one: `token older than ${UNUSED_DAYS} days was never used`,
    many: `tokens older than ${UNUSED_DAYS} days were never used`,
    todo: 'ask members to revoke unneeded tokens: cloakroom token revoke',
  }),
  createCountingCheck({
    name: 'rekey',
    docs: 'docs/guides/teams.md#remove-someone',
    counted: 'workspaces where rekey_required',
    well: 'no workspace needs a rekey',
    one: 'workspace has a key that a former member may know',
    many: 'workspaces have a key that a former member may know',
    todo: 'ask an admin to run cloakroom workspace rekey',
  }),
  createCountingCheck({
    name: 'plain_workspaces',
    docs: SIGNED,
    counted: `workspaces where not ${IS_SIGNED('id')}`,
    well: 'every workspace is signed',
    one: 'workspace is not signed: anyone who can write to the database controls their tokens',
    many: 'workspaces are not signed: anyone who can write to the database controls their tokens',
    todo: 'ask members to move to a new workspace: cloakroom workspace create',
  }),
  { name: 'unsigned_rows', docs: SIGNED, run: checkUnsigned },
  createCountingCheck({
    name: 'members',
    docs: SIGNED,
    counted: `(select distinct m.user_id from memberships m join users u on u.id = m.user_id
      where m.status = 'active' and u.signing_key is null) unkeyed`,
    well: 'every member has a signing key',
    one: 'member has an account without a signing key',
    many: 'members have an account without a signing key',
    todo: 'ask them to run cloakroom account rotate-keys, which creates one',
  }),
]

type Counted = Record<'name' | 'docs' | 'counted' | 'well' | 'one' | 'many' | 'todo', string>

/** Warns of the rows in `counted`. */
function createCountingCheck({
  name,
  docs,
  counted,
  well,
  one,
  many,
  todo,
}: Counted): Check<Patient> {
  const run = async (patient: Patient) => {
    const { found } = await ask<'found'>(
      patient,
      `select count(*)::float8 as found from ${counted}`,
    )
    return found === 0 ? well : warn(`${found} ${found === 1 ? one : many}`, todo)
  }
  return { name, docs, run }
}

/** Finds unsigned rows in signed workspaces. */
async function checkUnsigned(patient: Patient): Promise<Found> {
  const { tokens, envelopes, secrets } = await ask<'envelopes' | 'tokens' | 'secrets'>(
    patient,
    `select
      (select count(*)::float8 from token_envelopes where statement is null and ${IS_SIGNED('workspace_id')}) as envelopes,
      (select count(*)::float8 from tokens t where ${LIVE} and ${IS_SIGNED('workspace_id')}
        and not exists (select from token_grants g where g.token_id = t.id)) as tokens,
      (select count(*)::float8 from secrets s where ${IS_SIGNED('workspace_id')} and (value_hash is null or not exists (
        select from manifests m where (m.workspace_id, m.project_id, m.environment)
          = (s.workspace_id, s.project_id, s.environment)))) as secrets`,
  )
  if (tokens + envelopes + secrets === 0) return 'all rows of signed workspaces are signed'
  return warn(
    `in signed workspaces ${count(tokens, 'token')}, ${count(envelopes, 'envelope')} and ${count(secrets, 'secret')} have no signature, so they are refused`,
    envelopes + secrets === 0
      ? 'ask an admin to revoke these tokens and issue new ones: cloakroom token issue'
      : 'find out who wrote to the database; ask members to delete these secrets or store them again',
  )
}

function ask<Name extends string>(patient: Patient, query: string) {
  const clock = 'with clock as (select $1::text::timestamptz as now)'
  return numbers<Name>(patient, `${clock} ${query}`, [new Date(patient.now()).toISOString()])
}
