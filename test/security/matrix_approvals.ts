/** Rows of the role matrix about approvals. */
import { parseToken } from '../../src/core/crypto/token.ts'
import { approvals } from '../../src/database/schema/index.ts'
import { exampleOfForm } from '../../src/http/fields.ts'
import type { Row, Scene } from './matrix_rows.ts'

/** A request of the agent's token, as its call would have stored it. */
async function addApproval({ world }: Scene, status: 'pending' | 'released') {
  const id = Bun.randomUUIDv7()
  await world.app.connection.db.insert(approvals).values({
    id,
    status,
    workspaceId: world.workspaceId,
    tokenId: parseToken(world.agentToken)?.id ?? '',
    agent: 'agent',
    digest: id,
    host: 'api.example.com',
    method: 'GET',
    secrets: [],
    requestedAt: new Date(),
    expiresAt: new Date(Date.now() + 600_000),
  })
  return { params: { workspace_id: world.workspaceId, approval_id: id } }
}

const pending = (scene: Scene) => addApproval(scene, 'pending')

export const approvalRows: Record<string, Row> = {
  'approvals.list': {
    request: ({ world }) => ({ params: { workspace_id: world.workspaceId } }),
  },
  'approvals.get': { request: pending },
  'approvals.release': {
    request: async (scene) => ({
      ...(await pending(scene)),
      body: {
        ...{ statement: '{"v":3}', signature: exampleOfForm.keyProof },
        envelopes: [
          {
            project_id: scene.world.projectId,
            ...{ environment: 'development', key: 'KEY', envelope: exampleOfForm.envelope },
          },
        ],
      },
    }),
    // Authenticated, and stopped because the workspace is not signed.
    through: [422],
    slots: {
      'body.envelopes.project_id': {
        status: 422,
        because: 'the request names the secrets, and envelopes are compared with it',
      },
    },
  },
  'approvals.deny': { request: pending },
  'approvals.revoke': { request: (scene) => addApproval(scene, 'released') },
}
