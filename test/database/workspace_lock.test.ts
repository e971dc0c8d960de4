// tier: quick, both databases in test:all
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { Fault } from '../../src/core/fault.ts'
import type { Role } from '../../src/core/grant.ts'
import { workspaces } from '../../src/database/schema/index.ts'
import { lockWorkspace, lockWorkspaceRow } from '../../src/database/workspace_lock.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type Person, registerPerson } from '../support/people.ts'
import { openTeam, type Team } from '../support/teams.ts'

let app: TestApp
let team: Team
let invited: Person

beforeAll(async () => {
  app = await startTestApp()
  team = await openTeam(app)
  invited = await registerPerson(app, 'invited')
  await team.invite(invited, 'admin')
})
afterAll(() => app.stop())

/** The result of taking the lock, or the code of its rejection. */
function lock(person: Person, role: Role, workspaceId = team.workspaceId) {
  return app.connection.db
    .transaction((tx) => lockWorkspace(tx, { workspaceId, userId: person.userId, role }))
    .catch((error) => (error instanceof Fault ? error.code : error))
}

test('the lock returns the workspace to anyone who still has the role of the grant', async () => {
  expect(await lock(team.owner, 'owner')).toEqual({
    name: 'Team',
    type: 'shared',
    epoch: 1,
    rekeyRequired: false,
  })
})

test('the lock rejects a grant that was given before the role changed', async () => {
  expect(await lock(team.owner, 'admin')).toBe('conflict')
})

test('the lock rejects former members and people who have not joined yet', async () => {
  expect(await lock(await registerPerson(app), 'owner')).toBe('not_found')
  expect(await lock(invited, 'admin')).toBe('not_found')
})

test('the lock rejects a deleted workspace', async () => {
  expect(await lock(team.owner, 'owner', Bun.randomUUIDv7())).toBe('not_found')
})

test('the lock prevents other changes of the workspace until the transaction ends', async () => {
  const { db } = app.connection
  const { workspaceId } = team
  const order: string[] = []
  const held = Promise.withResolvers<void>()
  const first = db.transaction(async (tx) => {
    await lockWorkspaceRow(tx, workspaceId)
    held.resolve()
    await tx.update(workspaces).set({ epoch: 2 }).where(eq(workspaces.id, workspaceId))
    order.push('first')
  })
  await held.promise
  const second = db.transaction(async (tx) => {
    const { epoch } = await lockWorkspaceRow(tx, workspaceId)
    order.push(`second sees ${epoch}`)
  })
  await Promise.all([first, second])
  expect(order).toEqual(['first', 'second sees 2'])
})
