// tier: quick
/** A rekey by the client: complete or without effect, and an error that names the obstacle. */
import { beforeAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { renewWorkspaceKey } from '../../src/client/actions/rekey.ts'
import { toPlainWorkspace } from '../../src/client/workspace.ts'
import { users } from '../../src/database/schema/index.ts'
import { getWorkspace } from '../../src/features/workspaces/contract.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { openTeam } from '../support/teams.ts'

/** X25519 gives the same result for it with every private key (RFC 7748, section 6.1). */
const LOW_ORDER = new Uint8Array(32)

let app: TestApp

beforeAll(async () => {
  app = await sharedApp()
})

test('a rekey names a person with an unusable key, and changes nothing', async () => {
  const team = await openTeam(app)
  const member = await team.join('member')
  const { db } = app.connection
  await db.update(users).set({ publicKey: LOW_ORDER }).where(eq(users.id, member.userId))
  const workspace = toPlainWorkspace({
    id: team.workspaceId,
    name: 'Team',
    epoch: 1,
    key: team.workspaceKey,
  })
  await expect(
    renewWorkspaceKey({ api: team.owner.api, workspace }, async () => {}),
  ).rejects.toThrow(
    `nothing can be sealed to the public key of ${member.email}; nothing was changed`,
  )
  const params = { workspace_id: team.workspaceId }
  expect(await team.owner.api.call(getWorkspace, { params })).toMatchObject({ epoch: 1 })
})
