// tier: all
/**
 * SECRET_KEY is what log-ins, sessions and tokens stand on. It is rotated without anybody noticing; a start
 * that would end them by mistake is refused, says what would end, and changes nothing.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { recoveryVerifier } from '../../src/client/account/keys.ts'
import { ConfigError } from '../../src/core/config/config.ts'
import { Pepper } from '../../src/core/crypto/pepper.ts'
import { getMe, logout, replaceRecovery } from '../../src/features/accounts/contract.ts'
import { registerAgent, revokeAgentToken } from '../../src/features/agents/contract.ts'
import { examine, USUAL_LIMITS } from '../../src/operator/checks/doctor.ts'
import { scriptOf } from '../docs/blocks.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { expectFailure } from '../support/failure.ts'
import { logInAs, type Person, recoveryFields, registerPerson } from '../support/people.ts'
import { startServer } from '../support/server_process.ts'
import { until } from '../support/until.ts'

const OLD = 'the-old-secret-key-the-old-secret-key'
const NEW = 'the-new-secret-key-the-new-secret-key'
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64url')
const idOf = (secretKey: string) => Pepper.parse(secretKey).keyIds[0]

let database: TestDatabase
let running: TestApp | undefined
let ada: Person
let agentToken: string

/** Somebody with a session, a recovery key and an agent, made under the old key. */
beforeEach(async () => {
  database = await freshDatabase()
  const app = await start(OLD)
  ada = await registerPerson(app, 'ada')
  agentToken = (await hire('first')).token ?? ''
}, 60_000)
afterEach(async () => {
  await stop()
  database.remove()
})

/** The server on this database, in place of the one that runs. */
async function start(SECRET_KEY: string, env: Record<string, string> = {}): Promise<TestApp> {
  await stop()
  running = await startTestApp({ ENCRYPTION_KEY, SECRET_KEY, ...env }, { database })
  return running
}

async function stop(): Promise<void> {
  await running?.stop()
  running = undefined
}

function hire(name: string) {
  const params = { workspace_id: ada.workspaceId }
  return asAda().call(registerAgent, { params, body: { name } })
}

function asAda() {
  if (!running) throw new Error('nothing runs')
  return running.as(ada.token)
}

const statusOfToken = async ({ resolver }: TestApp, token = agentToken) =>
  (await fetch(`${resolver}/v1/allowlist`, { headers: { authorization: `Bearer ${token}` } }))
    .status
const logIn = ({ call }: TestApp, { email, password } = ada) =>
  call('POST', '/api/auth/login/', { body: { email, password } })
const refresh = ({ call }: TestApp) =>
  call('POST', '/api/auth/refresh/', { body: { refresh: ada.refresh } })
const beginRecovery = ({ call }: TestApp) =>
  call('POST', '/api/auth/recover/begin/', {
    body: { email: ada.email, recovery_verifier: recoveryVerifier(ada.recoveryKey) },
  })

/** The ids of the keys under which what is stored was made. */
async function keysInUse({ connection: { sql } }: TestApp) {
  const [row] = await sql<Record<'password' | 'recovery' | 'token', string>[]>`
    select right(password_hash, 8) as password, right(recovery_verifier_hash, 8) as recovery,
      (select encode(substring(verifier from 1 for 4), 'hex') from tokens) as token
    from users`
  return row
}

/** The rows that SECRET_KEY makes, whole. */
function rows({ connection: { sql } }: TestApp) {
  return sql`
    select u::text, s::text, t::text, k::text
    from users u join sessions s on s.user_id = u.id join session_tokens t on t.session_id = s.id,
      tokens k order by t.id`
}

async function problemsOf(starting: Promise<unknown>): Promise<readonly string[]> {
  const error = await starting.then(
    () => null,
    (cause: unknown) => cause,
  )
  if (error instanceof ConfigError) return error.problems
  throw new Error('the start was not refused', { cause: error })
}

function wouldEnd(keyId: string, counts: string): string {
  return `SECRET_KEY: the data in this database needs another key (id ${keyId}); without it ${counts} (restore it; to rotate, put the new key before it, separated by a comma; to abandon the data, set SECRET_KEY_LOST=${keyId})`
}

const ALL =
  '1 sessions and 1 tokens would end, 1 passwords, 1 recovery keys and 0 passkeys would stop working'

describe('a new key before the old one', () => {
  test('ends nothing, and what is presented moves to it', async () => {
    const before = await keysInUse(await start(OLD))
    expect(before).toEqual({ password: idOf(OLD), recovery: idOf(OLD), token: idOf(OLD) })
    const app = await start(`${NEW},${OLD}`)
    expect(await asAda().call(getMe, {})).toMatchObject({ email: ada.email })
    expect(await statusOfToken(app)).toBe(200)
    expect((await logIn(app)).status).toBe(200)
    expect((await refresh(app)).status).toBe(200)
    expect((await beginRecovery(app)).status).toBe(200)
    await until(async () => (await keysInUse(app))?.token !== idOf(OLD))
    expect(await keysInUse(app)).toEqual({
      password: idOf(NEW),
      recovery: idOf(OLD),
      token: idOf(NEW),
    })
    app.clock.advance(6_000)
    expect(await statusOfToken(app)).toBe(200)
    expect((await logIn(app)).status).toBe(200)
  }, 60_000)

  test('tells at each start what is left of the old one, until it can go', async () => {
    const app = await start(`${NEW},${OLD}`)
    const told = ({ logs }: TestApp) =>
      logs.map((line) => JSON.parse(line)).find(({ message }) => message === 'an older SECRET_KEY')
    const key = idOf(OLD)
    expect(told(app)).toMatchObject({ key, passwords: 1, recovery_keys: 1, sessions: 1, tokens: 1 })
    await statusOfToken(app)
    await logIn(app)
    await refresh(app)
    const left = await start(`${NEW},${OLD}`)
    expect(told(left)).toMatchObject({
      key,
      passwords: 0,
      recovery_keys: 1,
      sessions: 0,
      tokens: 0,
    })
    expect(await problemsOf(start(NEW))).toEqual([
      wouldEnd(
        key,
        '0 sessions and 0 tokens would end, 0 passwords, 1 recovery keys and 0 passkeys would stop working',
      ),
    ])
    const again = await start(`${NEW},${OLD}`)
    const { token } = await logInAs(again, ada)
    await again.as(token).call(replaceRecovery, {
      body: { current_password: ada.password, recovery: recoveryFields(ada) },
    })
    expect(told(await start(`${NEW},${OLD}`))).toMatchObject({ passwords: 0, recovery_keys: 0 })
    const done = await start(NEW)
    expect(told(done)).toBeUndefined()
    expect((await logIn(done)).status).toBe(200)
    expect((await beginRecovery(done)).status).toBe(200)
    expect(await statusOfToken(done)).toBe(200)
  }, 60_000)

  test('the old key may be removed before all recovery keys were replaced: passwords still sign in, to create new ones', async () => {
    const moving = await start(`${NEW},${OLD}`)
    await logIn(moving)
    await refresh(moving)
    await statusOfToken(moving)
    const left = await start(`${NEW},${OLD}`)
    const { connection, config } = left
    const findings = await examine({ connection, config, now: Date.now, limits: USUAL_LIMITS })
    expect(findings.find(({ check }) => check === 'secret_key')).toMatchObject({
      level: 'warn',
      todo: 'only recovery keys still use the older keys, until their owners replace them',
    })
    const query = scriptOf('docs/guides/server-keys.md', 'recovery')
    const whose = ({ connection: { sql } }: TestApp) =>
      sql.unsafe<{ email: string }[]>(query.replace('3f9a1c07', idOf(OLD)))
    expect([...(await whose(left))]).toEqual([{ email: ada.email }])
    const without = await start(NEW, { SECRET_KEY_LOST: idOf(OLD) })
    expectFailure(await beginRecovery(without), 'invalid_credentials', {
      message: 'The email address or recovery key is wrong.',
    })
    const { token } = await logInAs(without, ada)
    await without.as(token).call(replaceRecovery, {
      body: { current_password: ada.password, recovery: recoveryFields(ada) },
    })
    expect([...(await whose(without))]).toEqual([])
    expect((await beginRecovery(await start(NEW))).status).toBe(200)
  }, 60_000)

  test('goes on with the cursors of lists', async () => {
    const app = await start(OLD)
    await hire('second')
    const list = (path: string, { call }: TestApp) => call('GET', path, { token: ada.token })
    const path = `/api/workspaces/${ada.workspaceId}/agents/?limit=1`
    const first = await list(path, app)
    const cursor = (first.body as { pagination: { next_cursor: string } }).pagination.next_cursor
    const rotated = await start(`${NEW},${OLD}`)
    expect((await list(`${path}&cursor=${cursor}`, rotated)).status).toBe(200)
  }, 60_000)
})

describe('another key', () => {
  test('is refused with what would end, and changes nothing', async () => {
    const app = await start(OLD)
    const before = await rows(app)
    expect(await problemsOf(start(NEW))).toEqual([wouldEnd(idOf(OLD), ALL)])
    const back = await start(OLD)
    expect(await rows(back)).toEqual(before)
    expect((await logIn(back)).status).toBe(200)
  }, 60_000)

  test('stops the server with 78 and one line, before it serves', async () => {
    await stop()
    const env = { ...database.env, ENCRYPTION_KEY, SECRET_KEY: NEW }
    const line = `cloakroom: ${wouldEnd(idOf(OLD), ALL)}\n`
    await expect(startServer(env)).rejects.toThrow(`the server ended with 78: ${line}`)
  }, 60_000)

  test('ends what the lost one made when its id is given, and no other', async () => {
    const wrong = start(NEW, { SECRET_KEY_LOST: '00112233' })
    expect(await problemsOf(wrong)).toEqual([wouldEnd(idOf(OLD), ALL)])
    const app = await start(NEW, { SECRET_KEY_LOST: idOf(OLD) })
    expectFailure(await app.call('GET', '/api/users/me/', { token: ada.token }), 'invalid_token')
    expectFailure(await refresh(app), 'invalid_token')
    expectFailure(await logIn(app), 'invalid_credentials')
    expect((await beginRecovery(app)).status).toBe(401)
    expect(await statusOfToken(app)).toBe(401)
    const bob = await registerPerson(app, 'bob')
    const found = await start(`${NEW},${OLD}`)
    expect([await logIn(found), await logIn(found, bob)]).toMatchObject([
      { status: 200 },
      { status: 200 },
    ])
    expect(await statusOfToken(found)).toBe(200)
  }, 60_000)

  test('is not kept by sessions and tokens that are over', async () => {
    const app = await start(`${NEW},${OLD}`)
    const { agent, token_id } = await hire('second')
    const params = {
      workspace_id: ada.workspaceId,
      registration_id: agent.id,
      token_id,
    }
    await asAda().call(revokeAgentToken, { params })
    await statusOfToken(app)
    const { token } = await logInAs(app, ada)
    await app.as(token).call(replaceRecovery, {
      body: { current_password: ada.password, recovery: recoveryFields(ada) },
    })
    await asAda().call(logout, { body: {} })
    expect((await logIn(await start(NEW))).status).toBe(200)
  }, 60_000)
})
