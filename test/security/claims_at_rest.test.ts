// tier: all
/**
 * Data that the server stores at rest opens nothing. An attacker with the whole database, with the server's keys or
 * with a token tries; only a token with all of that, or a password, opens something: its purpose.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { logInByPassword, signUp } from '../../src/client/account/log_in.ts'
import { sealSecret } from '../../src/client/vault.ts'
import { toBase64 } from '../../src/core/crypto/encoding.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { upsertSecrets } from '../../src/features/secrets/contract.ts'
import {
  type Agent,
  createAgentWithToken,
  expectRefused,
  openStage,
  type Stage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { attack, type Loot } from './offline_attack.ts'

let stage: Stage
let agent: Agent
let victim: Agent

beforeAll(async () => {
  stage = await openStage()
  const secrets = { ONE: marked('value-number-one'), TWO: marked('value-number-two') }
  agent = await createAgentWithToken(stage, { secrets })
  victim = await createAgentWithToken(stage, {
    secrets: { ...secrets, THREE: marked('value-number-three') },
  })
}, 30_000)
afterAll(() => stage.stop())

describe('At rest, nothing that the server stores decrypts a secret: not the database, not `ENCRYPTION_KEY`, not both together. (With both, an attacker can guess weak passwords offline, and read where notices are sent.)', () => {
  const opened = (loot: Loot) => attack(stage.app.connection.sql, loot)
  const ofServer = () => ({
    encryptionKey: stage.app.config.ENCRYPTION_KEY,
    secretKey: stage.app.config.SECRET_KEY,
  })

  test('the database alone opens nothing', async () => {
    expect(await opened({})).toEqual([])
  })

  test('the database and both server keys decrypt nothing', async () => {
    expect(await opened(ofServer())).toEqual([])
  })

  test('the database and a token open nothing without ENCRYPTION_KEY', async () => {
    expect(await opened({ token: agent.token })).toEqual([])
  })

  test('all of them open what the token was granted, which proves that the attack is a real one', async () => {
    expect(await opened({ ...ofServer(), token: agent.token })).toEqual([
      `${agent.workspaceId}/ONE`,
      `${agent.workspaceId}/TWO`,
    ])
  })

  test('a weak password is guessed with the database and ENCRYPTION_KEY', async () => {
    const password = 'password1'
    const workspaceId = await storeUnder(password)
    expect(await opened({ passwords: [password] })).toEqual([])
    expect(await opened({ ...ofServer(), passwords: [password] })).toEqual([`${workspaceId}/WEAK`])
  }, 60_000)

  test('a key that lay about in any row would be found', async () => {
    const { sql } = stage.app.connection
    const { userId, workspaceId, workspaceKey } = victim.person
    await sql`update users set first_name = ${toBase64(workspaceKey)} where id = ${userId}`
    expect(await opened(ofServer())).toEqual(
      ['ONE', 'THREE', 'TWO'].map((key) => `${workspaceId}/${key}`),
    )
    await sql`update users set first_name = 'Test' where id = ${userId}`
  })

  test('a token alone reads nothing', async () => {
    for (const path of [
      `/api/secrets/${agent.projectId}/?include=value`,
      `/api/secrets/${agent.projectId}/ONE/`,
      `/api/workspaces/${agent.workspaceId}/agents/`,
      '/api/workspaces/',
    ]) {
      expect((await stage.app.call('GET', path, { token: agent.token })).status).toBe(401)
    }
  })
})

/** A person whose keys depend on a real password, with one secret. */
async function storeUnder(password: string): Promise<string> {
  const email = 'weak@people.example'
  await signUp(stage.app.controlPlane, email, password, false)
  const { api, workspaces } = await logInByPassword(stage.app.controlPlane, email, password)
  const [workspace] = workspaces
  if (!workspace) throw new Error('there is no personal workspace')
  const { id } = await api.call(createProject, {
    body: { name: 'main', workspace_id: workspace.id },
  })
  const place = { projectId: id, environment: 'development', key: 'WEAK' }
  const sealed = sealSecret(workspace, place, null, marked('value-of-the-weak'))
  const secrets = [{ key: 'WEAK', value: sealed, policy: null }]
  await api.call(upsertSecrets, { body: { project_id: id, environment: 'development', secrets } })
  return workspace.id
}

describe('data that was moved in the database does not open', () => {
  const ask = (name: string, environment?: string) => ({
    target_url: stage.url('/'),
    headers: { 'X-Key': `SVC_SECRET_${name}` },
    ...(environment ? { environment } : {}),
  })
  const unreadable = (name: string) =>
    `The secret ${name} cannot be decrypted. It was altered or sealed with another key.`

  test('a value, to another key', async () => {
    const { sql } = stage.app.connection
    const { workspaceId } = agent
    await sql`update secrets s set value = o.value from secrets o
      where s.workspace_id = ${workspaceId} and o.workspace_id = ${workspaceId}
        and ((s.key = 'ONE' and o.key = 'TWO') or (s.key = 'TWO' and o.key = 'ONE'))`
    for (const name of ['ONE', 'TWO']) {
      await expectRefused(stage, agent, ask(name), 'unreadable_secret', unreadable(name))
    }
  })

  test('a row, to another name, environment or tenant', async () => {
    const { sql } = stage.app.connection
    await sql`update secrets set key = 'RENAMED'
      where workspace_id = ${victim.workspaceId} and key = 'ONE'`
    await expectRefused(stage, victim, ask('RENAMED'), 'unreadable_secret', unreadable('RENAMED'))
    await victim.provision(undefined, undefined, 'staging')
    await sql`update secrets set environment = 'staging'
      where workspace_id = ${victim.workspaceId} and key = 'TWO'`
    const call = ask('TWO', 'staging')
    await expectRefused(stage, victim, call, 'unreadable_secret', unreadable('TWO'))
    await sql`update secrets set workspace_id = ${agent.workspaceId}, project_id = ${agent.projectId}
      where workspace_id = ${victim.workspaceId} and key = 'THREE'`
    await expectRefused(stage, agent, ask('THREE'), 'unreadable_secret', unreadable('THREE'))
  })

  test('an envelope, to another token or environment', async () => {
    const { sql } = stage.app.connection
    const thief = await createAgentWithToken(stage, {
      secrets: { ONE: marked('value-number-one') },
    })
    const other = await thief.issue()
    await sql`update token_envelopes set token_id = ${other.id} where token_id = ${thief.tokenId}`
    await expectRefused(stage, thief, ask('ONE'), 'key_not_provisioned')
    const answer = await fetch(`${stage.app.resolver}/v1/resolve`, {
      method: 'POST',
      headers: { authorization: `Bearer ${other.text}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask('ONE')),
    })
    expect(await answer.json()).toMatchObject({ error_code: 'key_not_provisioned' })
    await thief.store('ONE', marked('value-number-one'), { environment: 'staging' })
    await thief.provision()
    await sql`update token_envelopes set environment = 'staging' where token_id = ${thief.tokenId}`
    await expectRefused(stage, thief, ask('ONE', 'staging'), 'key_not_provisioned')
  })

  test('an envelope of another epoch', async () => {
    const { sql } = stage.app.connection
    const late = await createAgentWithToken(stage, { secrets: { ONE: marked('value-number-one') } })
    await sql`update token_envelopes set epoch = 2 where token_id = ${late.tokenId}`
    await expectRefused(stage, late, ask('ONE'), 'key_not_provisioned')
    await sql`update workspaces set epoch = 2, policy_version = policy_version + 1
      where id = ${late.workspaceId}`
    await expectRefused(stage, late, ask('ONE'), 'key_not_provisioned')
  })
})
