/** Two equal tenants, every kind of caller, and the objects that they can request. */

import type { Capability } from '../../src/core/capability.ts'
import type { Role } from '../../src/core/grant.ts'
import { memberships, projects, users, workspaces } from '../../src/database/schema/index.ts'
import { issueWorkloadToken, registerAgent } from '../../src/features/agents/contract.ts'
import { addToAllowlist } from '../../src/features/allowlist/contract.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { upsertSecrets } from '../../src/features/secrets/contract.ts'
import { removeMember } from '../../src/features/workspaces/contract.ts'
import type { TestApp } from '../support/app.ts'
import { BACKGROUND, TABLE_VERSION } from '../support/failure.ts'
import { type Person, registerPerson } from '../support/people.ts'
import { openTeam } from '../support/teams.ts'

export const people = ['owner', 'admin', 'member', 'read_only', 'invited', 'removed'] as const
export const callers = [
  'anonymous',
  ...people,
  /** The owner of another workspace. */
  'other_owner',
  /** It may use. */
  'agent_token',
  /** It may use and read. */
  'workload_token',
  /** It may read. */
  'reading_token',
] as const
export type CallerName = (typeof callers)[number]

export type World = {
  app: TestApp
  workspaceId: string
  projectId: string
  projectName: string
  /** An existing secret, in `development`. */
  secretKey: string
  agentId: string
  agentToken: string
  workloadToken: string
  readingToken: string
  domain: string
  person: Record<(typeof people)[number], Person>
  /** One more workspace of the owner, to which the invited person is invited. Returns its ID. */
  inviteAgain(): Promise<string>
}

let counter = 0

/** A unique name. */
export function unique(prefix: string): string {
  counter += 1
  return `${prefix}${counter}`
}

/** Canonical base64 in the form of a token envelope; nobody ever opens it. */
export const envelope = new Uint8Array(81).fill(1).toBase64()
/** A ciphertext without an epoch. */
export const ciphertext = new Uint8Array(24).fill(9).toBase64()

/** @param isStaffed whether each role has a separate person; otherwise the admin is used for all of them */
export async function buildWorld(app: TestApp, { isStaffed = true } = {}): Promise<World> {
  const team = await openTeam(app)
  const admin = await team.join('admin')
  const hire = async (role: Role) => (isStaffed ? await team.join(role) : admin)
  const removed = await hire('member')
  const invited = await registerPerson(app, 'invited')
  await team.invite(invited, 'member')
  const { owner, workspaceId } = team
  const params = { workspace_id: workspaceId }
  if (isStaffed)
    await owner.api.call(removeMember, { params: { ...params, member: removed.userId } })
  const projectName = unique('project')
  const { id: projectId } = await owner.api.call(createProject, {
    body: { name: projectName, workspace_id: workspaceId },
  })
  const secretKey = unique('SECRET_')
  await owner.api.call(upsertSecrets, {
    body: { project_id: projectId, secrets: { [secretKey]: ciphertext } },
  })
  const domain = `${unique('api')}.example.com`
  await owner.api.call(addToAllowlist, { params, body: { domain } })
  const registered = await owner.api.call(registerAgent, {
    params,
    body: { name: unique('agent') },
  })
  const issue = async (label: string, more: { capabilities?: Capability[] } = {}) => {
    const issued = await owner.api.call(issueWorkloadToken, {
      params: { project_id: projectId },
      body: { label, environment: 'development', ...more },
    })
    return issued.token ?? ''
  }
  return {
    app,
    workspaceId,
    projectId,
    projectName,
    secretKey,
    domain,
    agentId: registered.agent.id,
    agentToken: registered.token ?? '',
    workloadToken: await issue('ci'),
    readingToken: await issue('vault', { capabilities: ['read'] }),
    inviteAgain: async () => {
      const another = await openTeam(app, owner)
      await another.invite(invited, 'member')
      return another.workspaceId
    },
    person: {
      owner,
      admin,
      member: await hire('member'),
      read_only: await hire('read_only'),
      invited,
      removed,
    },
  }
}

/** A new person in the workspace, to be promoted, removed or left alone. */
export async function addTarget({ app, workspaceId }: World, role: Role): Promise<string> {
  const { db } = app.connection
  const id = Bun.randomUUIDv7()
  await db.insert(users).values({
    id,
    email: `${id}@targets.example`,
    passwordHash: '',
    keySalt: '',
    kdf: { algorithm: 'argon2id', memory_kib: 65_536, iterations: 3, parallelism: 4 },
    publicKey: new Uint8Array(32),
    encryptedPrivateKey: new Uint8Array(64),
  })
  await db.insert(memberships).values({
    workspaceId,
    userId: id,
    role,
    status: 'active',
    encryptedWorkspaceKey: new Uint8Array(64),
  })
  return id
}

/** A workspace to be deleted, with the same people in the same roles. */
export async function copyWorkspace({ app, workspaceId: from }: World): Promise<string> {
  const { db, sql } = app.connection
  const workspaceId = Bun.randomUUIDv7()
  await db.insert(workspaces).values({ id: workspaceId, name: 'Copy', type: 'shared' })
  await sql`
    insert into memberships (id, workspace_id, user_id, role, status, encrypted_workspace_key)
    select gen_random_uuid(), ${workspaceId}, user_id, role, status, encrypted_workspace_key
    from memberships where workspace_id = ${from}`
  return workspaceId
}

/** A project to be renamed or deleted. */
export async function addProject({ app, workspaceId }: World) {
  const id = Bun.randomUUIDv7()
  const name = unique('spare')
  await app.connection.db.insert(projects).values({ id, workspaceId, name })
  return { id, name }
}

/** A secret to be deleted or rolled back, of two versions. */
export async function addSecret({ projectId, person }: World): Promise<string> {
  const key = unique('SPARE_')
  const body = { project_id: projectId, secrets: { [key]: ciphertext } }
  await person.owner.api.call(upsertSecrets, { body })
  await person.owner.api.call(upsertSecrets, { body })
  return key
}

/** Filled in later: the last use of a token, and the outcome of its request. */
const LATER = ['last_used_at', 'status_code', 'duration_ms', 'redacted', 'decision', 'reason']

/** The record of a rejection is not the rejected data. */
const MEANT: Record<string, string> = {
  audit_logs: "where decision is distinct from 'blocked'",
  // A deleted target goes later, with its notices.
  notice_targets: 'where deleted_at is null',
  notices: 'where target_id in (select id from notice_targets where deleted_at is null)',
}
/** Their rows are delivered or removed later. */
const BY_ID = ['notices', 'notice_targets']

/** One value per table for all its contents; a difference means that a change was written. */
export async function fingerprint({ app }: World): Promise<Record<string, string>> {
  const { sql } = app.connection
  await app.flushAudit()
  states ??= (await readTables(sql)).map(({ name, changes_later }) => {
    const state = BY_ID.includes(name) ? IDS : changes_later ? VALUES : TABLE_VERSION
    return `select '${name}' as name, ${state} as state from "${name}" t ${MEANT[name] ?? ''}`
  })
  const rows = await sql.unsafe<{ name: string; state: string }[]>(states.join(' union all '))
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]))
}

/** Slower, for rows with one changed column. */
const ENTRY = `(to_jsonb(t) - array['${LATER.join("','")}'])::text`
const VALUES = `md5(coalesce(string_agg(${ENTRY}, '' order by ${ENTRY}), ''))`

const IDS = `md5(coalesce(string_agg(t.id::text, '' order by t.id), ''))`

let states: string[] | undefined

async function readTables(sql: TestApp['connection']['sql']) {
  const tables = await sql<{ name: string; changes_later: boolean }[]>`
    select table_name as name, bool_or(column_name in ${sql(LATER)}) as changes_later
    from information_schema.tables natural join information_schema.columns
    where table_schema = 'public' and table_type = 'BASE TABLE' group by 1 order by 1`
  return tables.filter(({ name }) => !BACKGROUND.includes(name))
}
