/**
 * Tenants written straight into the database: for tests of what happens inside a workspace, which
 * need not go through registration and invitations.
 */
import { mintToken, tokenAuth, verifierOf } from '../../src/kernel/crypto/token.ts'
import {
  memberships,
  projects,
  sessions,
  sessionTokens,
  users,
  workspaces,
} from '../../src/kernel/db/schema/index.ts'
import type { Role } from '../../src/kernel/grant.ts'
import type { TestApp } from './app.ts'

export type SeededPerson = { userId: string; email: string; token: string }

export type Tenant = {
  workspaceId: string
  /** 32 random bytes that only the test knows. */
  workspaceKey: Uint8Array
  projectId: string
  owner: SeededPerson
  /** One more person, as an active member. */
  join(role: Role): Promise<SeededPerson>
  /** One more project; answers its id. */
  addProject(name: string): Promise<string>
}

const A_MINUTE_MS = 60_000

/** A shared workspace with an owner and one project. */
export async function seedTenant({ connection: { db } }: TestApp): Promise<Tenant> {
  const workspaceId = Bun.randomUUIDv7()
  await db.insert(workspaces).values({ id: workspaceId, name: 'Tenant', type: 'shared' })
  const join = async (role: Role) => {
    const person = await seedPerson(db)
    await db.insert(memberships).values({
      workspaceId,
      userId: person.userId,
      role,
      status: 'active',
      encryptedWorkspaceKey: new Uint8Array(64),
    })
    return person
  }
  const addProject = async (name: string) => {
    const id = Bun.randomUUIDv7()
    await db.insert(projects).values({ id, workspaceId, name })
    return id
  }
  return {
    workspaceId,
    workspaceKey: crypto.getRandomValues(new Uint8Array(32)),
    projectId: await addProject('api'),
    owner: await join('owner'),
    join,
    addProject,
  }
}

async function seedPerson(db: TestApp['connection']['db']): Promise<SeededPerson> {
  const userId = Bun.randomUUIDv7()
  const email = `${userId}@example.com`
  await db.insert(users).values({
    id: userId,
    email,
    passwordHash: 'never compared here',
    keySalt: '',
    kdf: { algorithm: 'argon2id', memory_kib: 65_536, iterations: 3, parallelism: 4 },
    publicKey: new Uint8Array(32),
    encryptedPrivateKey: new Uint8Array(64),
  })
  const sessionId = Bun.randomUUIDv7()
  await db.insert(sessions).values({ id: sessionId, userId })
  const { id, secret, text } = mintToken('ses')
  await db.insert(sessionTokens).values({
    id,
    sessionId,
    kind: 'access',
    verifier: verifierOf(tokenAuth(id, secret)),
    expiresAt: new Date(Date.now() + 10 * A_MINUTE_MS),
  })
  return { userId, email, token: text }
}
