/**
 * What the server holds at rest opens nothing. An attacker with the whole database, with ENCRYPTION_KEY,
 * or with a token, tries; only all three together succeed, and then only for that token's grants.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openTokenEnvelope } from '../../src/platform/crypto/envelope.ts'
import { OuterLayer } from '../../src/platform/crypto/outer_layer.ts'
import { openSecretValue } from '../../src/platform/crypto/secret_value.ts'
import { parseToken, tokenKeyPair } from '../../src/platform/crypto/token.ts'
import { type Agent, employAgent, expectRefused, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'

let stage: Stage
let agent: Agent
let victim: Agent

beforeAll(async () => {
  stage = await openStage()
  const secrets = { ONE: marked('value-number-one'), TWO: marked('value-number-two') }
  agent = await employAgent(stage, { secrets })
  victim = await employAgent(stage, {
    secrets: { ...secrets, THREE: marked('value-number-three') },
  })
}, 30_000)
afterAll(() => stage.stop())

type StoredSecret = {
  workspace_id: string
  project_id: string
  environment: string
  key: string
  value: Uint8Array
}
type StoredEnvelope = {
  workspace_id: string
  token_id: string
  project_id: string
  environment: string
  epoch: number
  envelope: Uint8Array
}

type Loot = { encryptionKey?: string; token?: string }

/** Tries whatever can be tried with the whole database and this, and answers the names of what opened. */
async function attack({ encryptionKey, token }: Loot): Promise<string[]> {
  const { sql } = stage.app.connection
  const secrets = await sql<StoredSecret[]>`select * from secrets order by key, workspace_id`
  const outer = encryptionKey === undefined ? null : OuterLayer.parse(encryptionKey)
  const keys = await candidateKeys(outer, token)
  const opened: string[] = []
  for (const stored of secrets) {
    const { workspace_id, project_id: projectId, environment, key } = stored
    const place = [{ uuid: projectId }, { text: environment }, { text: key }]
    const inner = await outer?.open('secrets.value', workspace_id, place, stored.value)
    const texts = [stored.value, ...(inner ? [inner] : [])]
    const opens = texts.some((text) =>
      keys.some((candidate) =>
        openSecretValue(candidate, { projectId, environment, key }, null, text),
      ),
    )
    if (opens) opened.push(`${workspace_id === agent.workspaceId ? 'own' : 'other'} ${key}`)
  }
  return opened
}

/** Every 32 bytes that lie anywhere in the database, also below the outer layer, and what a token gives. */
async function candidateKeys(outer: OuterLayer | null, token: string | undefined) {
  const blobs = await everyBlob()
  const envelopes = await stage.app.connection.sql<StoredEnvelope[]>`select * from token_envelopes`
  const parsed = token === undefined ? null : parseToken(token)
  const gained: Uint8Array[] = parsed
    ? [parsed.secret, tokenKeyPair(parsed.id, parsed.secret).privateKey]
    : []
  for (const { workspace_id, token_id, project_id, environment, epoch, envelope } of envelopes) {
    const place = [{ uuid: token_id }, { uuid: project_id }, { text: environment }]
    const inner = await outer?.open('token_envelopes.envelope', workspace_id, place, envelope)
    if (!inner) continue
    blobs.push(inner)
    if (!parsed) continue
    const bound = {
      workspaceId: workspace_id,
      tokenId: token_id,
      projectId: project_id,
      environment,
      epoch,
    }
    const { privateKey } = tokenKeyPair(parsed.id, parsed.secret)
    const key = await openTokenEnvelope(bound, privateKey, inner)
    if (key) gained.push(key)
  }
  const windows = blobs.flatMap((blob) =>
    Array.from({ length: Math.max(0, blob.length - 31) }, (_, at) => blob.subarray(at, at + 32)),
  )
  return [...gained, ...windows]
}

async function everyBlob(): Promise<Uint8Array[]> {
  const { sql } = stage.app.connection
  const columns = await sql<{ table: string; column: string }[]>`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'public' and data_type = 'bytea'`
  const found: Uint8Array[] = []
  for (const { table, column } of columns) {
    const rows = await sql.unsafe<{ blob: Uint8Array | null }[]>(
      `select "${column}" as blob from "${table}"`,
    )
    found.push(...rows.flatMap(({ blob }) => blob ?? []))
  }
  return found
}

describe('nothing opens', () => {
  test('with the database alone', async () => {
    expect(await attack({})).toEqual([])
  })

  test('with the database and ENCRYPTION_KEY', async () => {
    expect(await attack({ encryptionKey: stage.app.config.ENCRYPTION_KEY })).toEqual([])
  })

  test('with the database and a token, but without ENCRYPTION_KEY', async () => {
    expect(await attack({ token: agent.token })).toEqual([])
  })

  test('with all of them but the grants of the token, which proves that the attack is a real one', async () => {
    const encryptionKey = stage.app.config.ENCRYPTION_KEY
    expect(await attack({ encryptionKey, token: agent.token })).toEqual(['own ONE', 'own TWO'])
  })

  test('with a token alone: it can be used, but it reads nothing', async () => {
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

describe('what was moved in the database does not open', () => {
  const ask = (name: string, environment?: string) => ({
    target_url: stage.url('/'),
    headers: { 'X-Key': `SVC_SECRET_${name}` },
    ...(environment ? { environment } : {}),
  })
  const unreadable = (name: string) =>
    `The secret ${name} cannot be decrypted: it was altered or sealed under another key.`

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
    const thief = await employAgent(stage, { secrets: { ONE: marked('value-number-one') } })
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
    const late = await employAgent(stage, { secrets: { ONE: marked('value-number-one') } })
    await sql`update token_envelopes set epoch = 2 where token_id = ${late.tokenId}`
    await expectRefused(stage, late, ask('ONE'), 'key_not_provisioned')
    await sql`update workspaces set epoch = 2, policy_version = policy_version + 1
      where id = ${late.workspaceId}`
    await expectRefused(stage, late, ask('ONE'), 'key_not_provisioned')
  })
})
