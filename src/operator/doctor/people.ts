/** What people have left undone: tokens, workspaces, signatures, keys. Counts only: names are others' text. */
import {
  count,
  DAY_MS,
  type DoctorCheck,
  type Found,
  numbers,
  type Patient,
  well,
} from './finding.ts'

const SOON_DAYS = 7
const UNUSED_DAYS = 30
/** The version of its id says that a workspace is signed. */
const IS_SIGNED = (id: string) => `substring(${id}::text from 15 for 1) = '8'`

export const peopleChecks: readonly DoctorCheck[] = [
  { name: 'tokens_without_end', docs: 'docs/cli.md#tokens', run: checkEndless },
  { name: 'tokens_ending', docs: 'docs/cli.md#tokens', run: checkEnding },
  { name: 'tokens_ended', docs: 'docs/cli.md#tokens', run: checkEnded },
  { name: 'tokens_unused', docs: 'docs/cli.md#tokens', run: checkUnused },
  { name: 'rekey', docs: 'docs/cli.md#people', run: checkRekey },
  { name: 'plain_workspaces', docs: 'docs/signed-workspaces.md', run: checkPlain },
  { name: 'unsigned_rows', docs: 'docs/signed-workspaces.md', run: checkUnsigned },
  { name: 'members', docs: 'docs/signed-workspaces.md', run: checkMembers },
]

const moment = ({ now }: Patient, days = 0) => new Date(now() + days * DAY_MS).toISOString()
const LIVE = 'revoked_at is null and (expires_at is null or expires_at > $1::text::timestamptz)'

async function tokensWhere(patient: Patient, condition: string, days: number): Promise<number> {
  const { found } = await numbers<'found'>(
    patient,
    `select count(*)::float8 as found from tokens where $1::text is not null and $2::text is not null and ${condition}`,
    [moment(patient), moment(patient, days)],
  )
  return found
}

async function checkEndless(patient: Patient): Promise<Found> {
  const found = await tokensWhere(patient, `${LIVE} and expires_at is null`, 0)
  if (found === 0) return well('every token has an end')
  return {
    level: 'warn',
    said: `${count(found, 'token')} ${found === 1 ? 'never ends by itself' : 'never end by themselves'}`,
    todo: 'have members revoke them and issue others with --expires-in-days',
  }
}

async function checkEnding(patient: Patient): Promise<Found> {
  const condition = `${LIVE} and expires_at <= $2::text::timestamptz`
  const found = await tokensWhere(patient, condition, SOON_DAYS)
  if (found === 0) return well(`no token ends within ${SOON_DAYS} days`)
  return {
    level: 'warn',
    said: `${count(found, 'token')} ${found === 1 ? 'ends' : 'end'} within ${SOON_DAYS} days`,
    todo: 'have members issue new ones: cloakroom token list shows when each ends',
  }
}

async function checkEnded(patient: Patient): Promise<Found> {
  const condition =
    'revoked_at is null and expires_at <= $1::text::timestamptz and expires_at > $2::text::timestamptz'
  const found = await tokensWhere(patient, condition, -SOON_DAYS)
  if (found === 0) return well(`no token ended by itself in the last ${SOON_DAYS} days`)
  return {
    level: 'warn',
    said: `${count(found, 'token')} ended without being revoked in the last ${SOON_DAYS} days`,
    todo: 'see that nobody calls with them any more: such calls are 401',
  }
}

async function checkUnused(patient: Patient): Promise<Found> {
  const condition = `${LIVE} and last_used_at is null and created_at < $2::text::timestamptz
    and not exists (select from token_uses u where u.token_id = tokens.id)`
  const found = await tokensWhere(patient, condition, -UNUSED_DAYS)
  if (found === 0) return well(`every token older than ${UNUSED_DAYS} days was used`)
  return {
    level: 'warn',
    said: `${count(found, 'token')} older than ${UNUSED_DAYS} days ${found === 1 ? 'was' : 'were'} never used`,
    todo: 'have members revoke what nobody needs: cloakroom token revoke',
  }
}

async function checkRekey(patient: Patient): Promise<Found> {
  const { found } = await numbers<'found'>(
    patient,
    'select count(*)::float8 as found from workspaces where rekey_required',
  )
  if (found === 0) return well('no workspace waits for a new key')
  return {
    level: 'warn',
    said: `${count(found, 'workspace')} ${found === 1 ? 'has' : 'have'} a key that a former member may know`,
    todo: 'have an administrator run cloakroom workspace rekey',
  }
}

async function checkPlain(patient: Patient): Promise<Found> {
  const { found } = await numbers<'found'>(
    patient,
    `select count(*)::float8 as found from workspaces where not ${IS_SIGNED('id')}`,
  )
  if (found === 0) return well('every workspace is signed')
  return {
    level: 'warn',
    said: `${count(found, 'workspace')} ${found === 1 ? 'is' : 'are'} not signed: who writes the database decides what their tokens may`,
    todo: 'have members move to a workspace of today: cloakroom workspace create',
  }
}

/** In workspaces that are signed. */
async function checkUnsigned(patient: Patient): Promise<Found> {
  const parts = await numbers<'envelopes' | 'tokens' | 'secrets'>(
    patient,
    `select
      (select count(*)::float8 from token_envelopes where statement is null and ${IS_SIGNED('workspace_id')}) as envelopes,
      (select count(*)::float8 from tokens t where ${LIVE} and ${IS_SIGNED('workspace_id')}
        and not exists (select from token_grants g where g.token_id = t.id)) as tokens,
      (select count(*)::float8 from secrets s where ${IS_SIGNED('workspace_id')} and (value_hash is null or not exists (
        select from manifests m where (m.workspace_id, m.project_id, m.environment)
          = (s.workspace_id, s.project_id, s.environment)))) as secrets`,
    [moment(patient)],
  )
  const { tokens, envelopes, secrets } = parts
  if (tokens + envelopes + secrets === 0) return well('all rows of signed workspaces are signed')
  return {
    level: 'warn',
    said: `in signed workspaces ${count(tokens, 'token')}, ${count(envelopes, 'envelope')} and ${count(secrets, 'secret')} have no signature: they are refused`,
    todo:
      envelopes + secrets === 0
        ? 'have an admin revoke these tokens and issue new ones: cloakroom token issue'
        : 'find out who wrote to the database; have members delete these secrets, or store them again',
  }
}

async function checkMembers(patient: Patient): Promise<Found> {
  const { found } = await numbers<'found'>(
    patient,
    `select count(distinct m.user_id)::float8 as found from memberships m join users u on u.id = m.user_id
     where m.status = 'active' and u.signing_key is null`,
  )
  if (found === 0) return well('every member has a signing key')
  return {
    level: 'warn',
    said: `${count(found, 'member')} ${found === 1 ? 'has' : 'have'} an account without a signing key`,
    todo: 'have them run cloakroom account rotate-keys, which makes one',
  }
}
