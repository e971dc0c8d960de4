// tier: quick
/**
 * Data that is sealed to a public key of low order is open to all. The server stores no such key, of a person or
 * a token, and a client that receives one from its server seals nothing to it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { grantEnvironment } from '../../src/client/vault.ts'
import { toBase64 } from '../../src/core/crypto/encoding.ts'
import { tokens } from '../../src/database/schema/index.ts'
import { clientMadeToken } from '../features/agents/stored.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { expectRefusal } from '../support/failure.ts'
import { LOW_ORDER_KEYS, ORDINARY_KEYS } from '../support/low_order.ts'
import { newApplicant, registrationOf } from '../support/people.ts'
import { openProject, type ProjectTeam } from '../support/project.ts'

const REGISTER = '/api/auth/register/'

let app: TestApp
let team: ProjectTeam

beforeAll(async () => {
  app = await startTestApp({ RATE_REGISTER: '1000/1' })
  team = await openProject(app)
})
afterAll(() => app.stop())

type Order = [method: string, path: string, body: (token: unknown) => Record<string, unknown>]

const base64 = (hex: string) => toBase64(Uint8Array.fromHex(hex))
const message = 'must not be of low order'

/** Every call with a token that the client made. */
const orders: [what: string, order: () => Order | Promise<Order>][] = [
  ['a new agent', () => ['POST', workspacePath('agents/'), (token) => ({ name: unique(), token })]],
  [
    'a new agent of a project',
    () => ['POST', projectPath('agents/'), (token) => ({ name: unique(), token })],
  ],
  [
    'a further token of an agent',
    async () => {
      const agent = await app.call('POST', workspacePath('agents/'), {
        token: team.owner.token,
        body: { name: unique() },
      })
      const { id } = (agent.body as { data: { agent: { id: string } } }).data.agent
      return ['POST', workspacePath(`agents/${id}/tokens/`), (token) => ({ token })]
    },
  ],
  [
    'a workload token',
    () => [
      'POST',
      `/api/projects/${team.projectId}/workload-tokens/`,
      (token) => ({ label: 'ci', environment: 'production', token }),
    ],
  ],
]

let counter = 0
function unique(): string {
  counter += 1
  return `agent-${counter}`
}

function workspacePath(rest: string): string {
  return `/api/workspaces/${team.workspaceId}/${rest}`
}

function projectPath(rest: string): string {
  return workspacePath(`projects/${team.projectId}/${rest}`)
}

describe('registering', () => {
  test('a registration with a key of low order is 422 and writes nothing', async () => {
    const body = await registrationOf(newApplicant())
    for (const hex of LOW_ORDER_KEYS) {
      const call = { body: { ...body, public_key: base64(hex) } }
      const fields = [{ path: 'public_key', message }]
      await expectRefusal(app, ['POST', REGISTER, call], 'validation_error', { fields })
    }
  }, 60_000)

  test('a registration with any other key succeeds', async () => {
    for (const hex of ORDINARY_KEYS) {
      const body = { ...(await registrationOf(newApplicant())), public_key: base64(hex) }
      expect((await app.call('POST', REGISTER, { body })).status).toBe(201)
    }
  }, 60_000)
})

describe.each(orders)('%s', (_, orderOf) => {
  test('a token with a key of low order is 422 and writes nothing, and one with another key is created', async () => {
    const [method, path, bodyOf] = await orderOf()
    const { token } = team.owner
    for (const hex of LOW_ORDER_KEYS) {
      const body = bodyOf({ ...clientMadeToken().sent, public_key: base64(hex) })
      const fields = [{ path: 'token.public_key', message }]
      await expectRefusal(app, [method, path, { token, body }], 'validation_error', { fields })
    }
    for (const hex of ORDINARY_KEYS) {
      const made = { ...clientMadeToken().sent, public_key: base64(hex) }
      const body = { ...bodyOf(made), label: unique() }
      expect((await app.call(method, path, { token, body })).status).toBe(201)
    }
  }, 60_000)
})

test('a client grants nothing to a token whose key in the database is of low order', async () => {
  const made = clientMadeToken()
  const body = { name: unique(), token: made.sent }
  await app.call('POST', workspacePath('agents/'), { token: team.owner.token, body })
  const { db } = app.connection
  const workspace = { id: team.workspaceId, name: 'Team', epoch: 1, key: team.workspaceKey }
  const place = { projectId: team.projectId, environment: 'dev' }
  for (const hex of LOW_ORDER_KEYS) {
    await db
      .update(tokens)
      .set({ publicKey: Uint8Array.fromHex(hex) })
      .where(eq(tokens.id, made.id))
    const [row] = await db.select().from(tokens).where(eq(tokens.id, made.id))
    const publicKey = toBase64(row?.publicKey ?? new Uint8Array())
    const granted = grantEnvironment(null, workspace, { id: made.id, publicKey }, place)
    await expect(granted).rejects.toThrow('low order')
  }
  const granted = { id: made.id, publicKey: made.sent.public_key }
  expect(await grantEnvironment(null, workspace, granted, place)).toMatchObject({
    epoch: 1,
  })
})
