/** What a workspace holds that is sealed under its key, and for whom. */
import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm'
import { Fault } from '../../core/fault.ts'
import type { Grant, Role } from '../../core/grant.ts'
import type { Database, Transaction } from '../../database/open.ts'
import {
  memberships,
  projects,
  secrets,
  tokenEnvelopes,
  tokens,
  users,
  workspaces,
} from '../../database/schema/index.ts'
import type { Chain } from '../../sigchain/index.ts'
import type { GrantedToken } from '../statements/index.ts'

/** Rows that are read at once. */
const PAGE = 1000

export type HeldSecret = {
  id: string
  project_id: string
  environment: string
  key: string
  policy: unknown
  version: number
}

export type HeldToken = GrantedToken & {
  live: boolean
  /** Whether it holds any envelope. */
  provisioned: boolean
}

/** All that is sealed under the workspace key, and for whom. */
export type Holdings = {
  /** By user id; invited ones too, since their envelopes must stay good. */
  members: Map<string, { role: Role; status: 'active' | 'invited' }>
  tokens: Map<string, HeldToken>
  projectIds: Set<string>
  /** By `placeOf`. */
  secrets: Map<string, HeldSecret>
}

/** The identity of a secret within a workspace. */
export function placeOf({
  project_id,
  environment,
  key,
}: Pick<HeldSecret, 'project_id' | 'environment' | 'key'>): string {
  return `${project_id} ${environment} ${key}`
}

type Rekey = Grant<'workspace.update'>

/** The policy version changes with every secret of the workspace. */
export async function readVersions(
  db: Database | Transaction,
  { workspaceId }: Rekey,
): Promise<{ epoch: number; policyVersion: number }> {
  const [found] = await db
    .select({ epoch: workspaces.epoch, policyVersion: workspaces.policyVersion })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
  if (!found) throw new Fault('not_found')
  return found
}

/** Members, tokens and projects: all but the secrets. */
export async function readHolders(
  db: Database | Transaction,
  { workspaceId }: Rekey,
  chain: Chain | null,
): Promise<Omit<Holdings, 'secrets'>> {
  const tokenRows = await db
    .select({
      id: tokens.id,
      kind: tokens.kind,
      agentId: tokens.agentId,
      label: tokens.label,
      publicKey: tokens.publicKey,
      capabilities: tokens.capabilities,
      hosts: tokens.hosts,
      secrets: tokens.secrets,
      projectId: tokens.projectId,
      environment: tokens.environment,
      expiresAt: tokens.expiresAt,
      live: sql<boolean>`${tokens.revokedAt} is null`,
      provisioned: sql<boolean>`exists (
        select 1 from ${tokenEnvelopes} where ${tokenEnvelopes.tokenId} = ${tokens.id})`,
    })
    .from(tokens)
    .where(eq(tokens.workspaceId, workspaceId))
  const projectRows = await db
    .select({ id: projects.id })
    .from(projects)
    .where(eq(projects.workspaceId, workspaceId))
  return {
    members: await readMembers(db, workspaceId, chain),
    tokens: new Map(tokenRows.map((token) => [token.id, token])),
    projectIds: new Set(projectRows.map(({ id }) => id)),
  }
}

/** In a signed workspace those of its chain: no row gets the new key, and none keeps it from anybody. */
async function readMembers(
  db: Database | Transaction,
  workspaceId: string,
  chain: Chain | null,
): Promise<Holdings['members']> {
  const rows = await db
    .select({ userId: memberships.userId, role: memberships.role, status: memberships.status })
    .from(memberships)
    .where(eq(memberships.workspaceId, workspaceId))
  const stored = new Map(rows.map(({ userId, ...member }) => [userId, member]))
  if (chain === null) return stored
  const signed = [...chain.members.keys()]
  const people = await db.select({ id: users.id }).from(users).where(inArray(users.id, signed))
  return new Map(
    people.map(({ id }) => {
      const role = chain.members.get(id)?.role ?? 'read_only'
      return [id, stored.get(id) ?? { role, status: 'invited' }]
    }),
  )
}

export async function readSecrets(
  db: Database | Transaction,
  { workspaceId }: Rekey,
): Promise<Holdings['secrets']> {
  const found = new Map<string, HeldSecret>()
  let after: string | undefined
  do {
    const rows = await db
      .select({
        id: secrets.id,
        project_id: secrets.projectId,
        environment: secrets.environment,
        key: secrets.key,
        policy: secrets.policy,
        version: secrets.version,
      })
      .from(secrets)
      .where(
        and(
          eq(secrets.workspaceId, workspaceId),
          after === undefined ? undefined : gt(secrets.id, after),
        ),
      )
      .orderBy(asc(secrets.id))
      .limit(PAGE)
    for (const secret of rows) found.set(placeOf(secret), secret)
    after = rows.length < PAGE ? undefined : rows.at(-1)?.id
  } while (after !== undefined)
  return found
}
