// tier: quick
/** GET /api/workloads/token/ describes any live token to its bearer, without stored data. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { formatSealedToken, parseToken } from '../../../src/core/crypto/token.ts'
import { issueWorkloadToken } from '../../../src/features/agents/contract.ts'
import { getToken } from '../../../src/features/workloads/contract.ts'
import { createAgentWithToken, openStage, type Stage } from '../../support/agent.ts'
import { callJson } from '../../support/app.ts'
import { marked } from '../../support/canary.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage({ env: { RATE_TOKEN: '50/3600' } })
})
afterAll(() => stage.stop())

const ask = (token: string, origin = stage.app.controlPlane) =>
  callJson(origin, 'GET', getToken.path, { token })
const moment = expect.stringMatching(/Z$/)

test('the description of a token is the same on both listeners, and leaves no record', async () => {
  for (const capabilities of [['use'], ['read'], ['use', 'read']] as const) {
    const agent = await createAgentWithToken(stage, { capabilities: [...capabilities] })
    await agent.store('SECRET_NAME', marked('sk_'))
    const sealed = formatSealedToken(
      agent.tokenId,
      parseToken(agent.token)?.secret ?? new Uint8Array(),
    )
    for (const origin of [stage.app.controlPlane, stage.app.resolver]) {
      for (const [token, isSealed] of [
        [agent.token, false],
        [sealed, true],
      ] as const) {
        const { status, body } = await ask(token, origin)
        expect([status, body]).toEqual([
          200,
          {
            token_id: agent.tokenId,
            kind: 'agent',
            name: expect.any(String),
            label: 'default',
            can_decrypt: !isSealed,
            capabilities: [...capabilities],
            workspace_id: agent.workspaceId,
            workspace_name: expect.any(String),
            epoch: 1,
            project_id: null,
            project_name: null,
            environment: null,
            expires_at: moment,
            created_at: moment,
            provisioned: [
              {
                project_id: agent.projectId,
                project_name: expect.any(String),
                environment: 'development',
                epoch: 1,
              },
            ],
          },
        ])
        expect(JSON.stringify(body)).not.toContain('SECRET_NAME')
      }
    }
    await stage.app.flushAudit()
    const { sql } = stage.app.connection
    const records = await sql`select id from audit_logs where token_id = ${agent.tokenId}`
    expect(records.length).toBe(0)
  }
})

test('the description of a token names the project and the environment of a workload, and that it never expires', async () => {
  const { person, projectId } = await createAgentWithToken(stage)
  const { token } = await person.api.call(issueWorkloadToken, {
    params: { project_id: projectId },
    body: { label: 'ci', environment: 'production', expires_in_days: null },
  })
  expect((await ask(token ?? '')).body).toMatchObject({
    kind: 'workload',
    name: 'ci',
    label: 'ci',
    project_id: projectId,
    project_name: expect.any(String),
    environment: 'production',
    expires_at: null,
    provisioned: [],
  })
})

test('the description is 401 for ended tokens, and for sessions', async () => {
  const agent = await createAgentWithToken(stage)
  const other = await createAgentWithToken(stage)
  await ask(agent.token)
  await agent.revoke()
  await stage.app.connection.sql`
    update tokens set expires_at = now() - interval '1 second' where id = ${other.tokenId}`
  for (const token of [agent.token, other.token, agent.person.token, 'svc_agt_x'])
    expect(await ask(token)).toMatchObject({ status: 401, body: { error_code: 'invalid_token' } })
})

test('the description counts against the rate of the token', async () => {
  const agent = await createAgentWithToken(stage)
  const statuses: number[] = []
  for (let call = 0; call < 51; call += 1) statuses.push((await ask(agent.token)).status)
  expect([statuses[49], statuses[50]]).toEqual([200, 429])
})
