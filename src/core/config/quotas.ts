/**
 * How much of everything is stored at most (protocol 11). This table is the only place that has these numbers: the
 * settings, the documentation, the check (db/quota.ts) and the test read it.
 */

type Quota = {
  setting: `QUOTA_${string}`
  most: number
  /** What is counted, after "at most 1,000". */
  what: string
  /** What has so many, such as "a workspace". */
  per: string
  /** Rows to count, as SQL: a table or a subquery. Its columns `by` are compared with the ids given to the check. */
  rows: string
  by: readonly string[]
  which?: string
  /** What makes room. */
  remedy: string
}

/** The environments that always exist, those that were made, and those that hold secrets: by the index, one step each. */
const ENVIRONMENTS = `(select p.id as project_id, named.environment from projects p cross join lateral (
  with recursive stored as (
    (select environment from secrets where project_id = p.id order by environment limit 1)
    union all
    select (select s.environment from secrets s where s.project_id = p.id and s.environment > stored.environment
      order by s.environment limit 1) from stored where stored.environment is not null)
  select environment from stored where environment is not null
  union select unnest(p.environments) union values ('development'), ('staging'), ('production')) as named)`

export const quotas = {
  members: {
    setting: 'QUOTA_MEMBERS',
    most: 1_000,
    what: 'members and invitations',
    per: 'a workspace',
    rows: 'memberships',
    by: ['workspace_id'],
    remedy: 'Remove members or withdraw invitations',
  },
  projects: {
    setting: 'QUOTA_PROJECTS',
    most: 1_000,
    what: 'projects',
    per: 'a workspace',
    rows: 'projects',
    by: ['workspace_id'],
    remedy: 'Delete a project',
  },
  hosts: {
    setting: 'QUOTA_HOSTS',
    most: 1_000,
    what: 'allowed hosts',
    per: 'a workspace',
    rows: 'allowlist_entries',
    by: ['workspace_id'],
    remedy: 'Remove a host',
  },
  agents: {
    setting: 'QUOTA_AGENTS',
    most: 1_000,
    what: 'agents',
    per: 'a workspace',
    rows: 'agents',
    by: ['workspace_id'],
    which: 'deleted_at is null',
    remedy: 'Delete an agent',
  },
  liveTokens: {
    setting: 'QUOTA_LIVE_TOKENS',
    most: 5_000,
    what: 'active tokens',
    per: 'a workspace',
    rows: 'tokens',
    by: ['workspace_id'],
    which: 'revoked_at is null and (expires_at is null or expires_at > now())',
    remedy: 'Revoke a token',
  },
  environments: {
    setting: 'QUOTA_ENVIRONMENTS',
    most: 100,
    what: 'environments',
    per: 'a project',
    rows: ENVIRONMENTS,
    by: ['project_id'],
    remedy: 'Delete an environment',
  },
  secrets: {
    setting: 'QUOTA_SECRETS',
    most: 10_000,
    what: 'secrets',
    per: 'an environment',
    rows: 'secrets',
    by: ['project_id', 'environment'],
    remedy: 'Delete secrets',
  },
  tokenEnvelopes: {
    setting: 'QUOTA_TOKEN_ENVELOPES',
    most: 500,
    what: 'environments granted to it',
    per: 'a token',
    rows: 'token_envelopes',
    by: ['token_id'],
    remedy: 'Remove a grant, or use another token',
  },
  noticeTargets: {
    setting: 'QUOTA_NOTICE_TARGETS',
    most: 10,
    what: 'notice targets',
    per: 'a workspace',
    rows: 'notice_targets',
    by: ['workspace_id'],
    which: 'deleted_at is null',
    remedy: 'Remove a notice target',
  },
  workspaces: {
    setting: 'QUOTA_WORKSPACES',
    most: 1_000,
    what: 'workspaces',
    per: 'a person',
    rows: 'memberships',
    by: ['user_id'],
    which: "status = 'active'",
    remedy: 'Leave or delete a workspace',
  },
  passkeys: {
    setting: 'QUOTA_PASSKEYS',
    most: 20,
    what: 'passkeys',
    per: 'a person',
    rows: 'passkeys',
    by: ['user_id'],
    remedy: 'Remove a passkey',
  },
  sessions: {
    setting: 'QUOTA_SESSIONS',
    most: 100,
    what: 'sessions',
    per: 'a person',
    rows: 'sessions',
    by: ['user_id'],
    remedy: 'End a session where you are signed in, or recover the account, which ends all',
  },
  invitations: {
    setting: 'QUOTA_INVITATIONS',
    most: 100,
    what: 'pending invitations',
    per: 'a person',
    rows: 'memberships',
    by: ['user_id'],
    which: "status = 'invited'",
    remedy: 'The invited person can accept or decline some',
  },
} as const satisfies Record<string, Quota>

export type QuotaName = keyof typeof quotas

/** Counted by rate limiters (limits/hourly_quota.ts) and not in a table: deleting or withdrawing makes no room. */
export const hourlyQuotas = {
  sentInvitations: {
    setting: 'QUOTA_INVITATIONS_SENT',
    counter: 'invitations',
    most: 100,
    what: 'invitations sent',
    per: 'a person and hour',
    remedy: 'Wait',
  },
  /** Their ids are remembered after deletion (protocol 5.1), so that creating and deleting in a loop fills the disk. */
  created: {
    setting: 'QUOTA_CREATED',
    counter: 'created',
    most: 2_000,
    what: 'workspaces, projects, agents and tokens created',
    per: 'a person and hour',
    remedy: 'Wait',
  },
} as const

/** Bounds of queues (src/notices/notices.ts). No request is refused: what goes beyond is dropped, and logged. */
export const queueQuotas = {
  notices: {
    setting: 'QUOTA_NOTICES',
    most: 1_000,
    what: 'notices that wait, and notices of an hour',
    per: 'a workspace',
  },
} as const

type QuotaSetting =
  | (typeof quotas)[QuotaName]['setting']
  | (typeof queueQuotas)[keyof typeof queueQuotas]['setting']
  | (typeof hourlyQuotas)[keyof typeof hourlyQuotas]['setting']

/** The settings that the check reads. */
export type QuotaConfig = Record<QuotaSetting, number>

/** As a sentence, with the number of this server. */
export function overQuota(
  { per, what, setting, remedy }: Pick<Quota, 'per' | 'what' | 'setting' | 'remedy'>,
  most: number,
): string {
  const subject = `${per[0]?.toUpperCase()}${per.slice(1)}`
  return `${subject} has at most ${most.toLocaleString('en')} ${what} (${setting}). ${remedy}.`
}
