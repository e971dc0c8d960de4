/**
 * Quotas of stored items (protocol 11). Only this table has the numbers. The settings, the documentation, the check
 * (src/database/limits/quota.ts) and the test read it.
 */

type Quota = {
  setting: `QUOTA_${string}`
  most: number
  /** The counted items, after "at most 1,000". */
  what: string
  /** The owner of the items, such as "a workspace". */
  per: string
  /** Rows to count, as SQL: a table or a subquery. Its columns `by` are compared with the ids given to the check. */
  rows: string
  by: readonly string[]
  which?: string
  /** How to make room. */
  remedy: string
}

/** The built-in environments, created ones, and those that hold secrets. Finds the last by the index, one step each. */
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
    what: 'granted environments',
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
    remedy: 'End a session on a signed-in device, or recover the account to end all sessions',
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

/** Counted by rate limiters (limits/hourly_quota.ts) instead of rows. Deleting or withdrawing items makes no room. */
export const hourlyQuotas = {
  sentInvitations: {
    setting: 'QUOTA_INVITATIONS_SENT',
    counter: 'invitations',
    most: 100,
    what: 'invitations sent',
    per: 'a person and hour',
    remedy: 'Wait',
  },
  /** Their IDs remain after deletion (protocol 5.1), so a loop of create and delete would fill the disk. */
  created: {
    setting: 'QUOTA_CREATED',
    counter: 'created',
    most: 2_000,
    what: 'workspaces, projects, agents and tokens created',
    per: 'a person and hour',
    remedy: 'Wait',
  },
} as const

/** Limits of queues (src/notices/notices.ts). Items beyond a limit are dropped and logged. No request is refused. */
export const queueQuotas = {
  notices: {
    setting: 'QUOTA_NOTICES',
    most: 1_000,
    what: 'queued notices and notices per hour',
    per: 'a workspace',
  },
} as const

type QuotaSetting =
  | (typeof quotas)[QuotaName]['setting']
  | (typeof queueQuotas)[keyof typeof queueQuotas]['setting']
  | (typeof hourlyQuotas)[keyof typeof hourlyQuotas]['setting']

/** The settings that the check reads. */
export type QuotaConfig = Record<QuotaSetting, number>

/** A sentence with this server's number. */
export function describeOverQuota(
  { per, what, setting, remedy }: Pick<Quota, 'per' | 'what' | 'setting' | 'remedy'>,
  most: number,
): string {
  const subject = `${per[0]?.toUpperCase()}${per.slice(1)}`
  return `${subject} has at most ${most.toLocaleString('en')} ${what} (${setting}). ${remedy}.`
}
