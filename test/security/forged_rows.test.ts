// tier: quick, both databases in test:all
/**
 * Someone writes into the database of a running server, without SECRET_KEY and ENCRYPTION_KEY: rows of sessions,
 * tokens, passwords, memberships and envelopes, made up or copied from another account. None is accepted as a
 * login, and none gives a key.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { recoveryVerifier } from '../../src/client/account/keys.ts'
import { openWorkspace } from '../../src/client/vault.ts'
import { fromBase64, toBase64 } from '../../src/core/crypto/encoding.ts'
import { environmentKey, openSecretValue } from '../../src/core/crypto/secret_value.ts'
import {
  deriveVerifier,
  formatSealedToken,
  formatToken,
  mintToken,
  type ParsedToken,
  parseToken,
} from '../../src/core/crypto/token.ts'
import { login } from '../../src/features/accounts/contract.ts'
import { listSecrets } from '../../src/features/secrets/contract.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { expectFailure } from '../support/failure.ts'
import { logInAs, type Person, registerPerson } from '../support/people.ts'

let stage: Stage
let ada: Agent
let mallory: Agent

beforeAll(async () => {
  stage = await openStage({ env: { RATE_LOGIN: '1000/1' } })
  ada = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_of_ada') } })
  mallory = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_of_mallory') } })
}, 60_000)
afterAll(() => stage.stop())

const sql = () => stage.app.connection.sql
const hex = (bytes: Uint8Array) => bytes.toHex()

function parsed(text: string): ParsedToken {
  const token = parseToken(text)
  if (!token) throw new Error('the token does not parse')
  return token
}

/** The verifiers that version 1 stored, and in today's form: with the id of the key in use. */
function madeUp(token: ParsedToken): [what: string, verifier: Uint8Array][] {
  const verifier = deriveVerifier(token)
  const keyId = Uint8Array.fromHex(stage.app.pepper.keyIds[0])
  return [
    ['as version 1 stored it', verifier],
    ['behind the id of the key', new Uint8Array([...keyId, ...verifier])],
    ['behind the id of no key', new Uint8Array([0, 0, 0, 0, ...verifier])],
    ['empty', new Uint8Array()],
  ]
}

async function expectNoSession(access: string, refresh?: string): Promise<void> {
  expectFailure(await stage.app.call('GET', '/api/users/me/', { token: access }), 'invalid_token')
  if (refresh === undefined) return
  const body = { refresh }
  expectFailure(await stage.app.call('POST', '/api/auth/refresh/', { body }), 'invalid_token')
}

async function expectSession({ token }: { token: string }, person: Person): Promise<void> {
  const answer = await stage.app.call('GET', '/api/users/me/', { token })
  expect(answer).toMatchObject({ status: 200, body: { data: { email: person.email } } })
}

describe('a session', () => {
  test('a made-up row does not authenticate', async () => {
    const [access, refresh] = [mintToken('ses'), mintToken('ref')]
    const sessionId = Bun.randomUUIDv7()
    await sql()`insert into sessions (id, user_id) values (${sessionId}, ${ada.person.userId})`
    for (const [index, [, verifier]] of madeUp(parsed(access.text)).entries()) {
      const other = madeUp(parsed(refresh.text))[index]?.[1] ?? verifier
      await sql()`delete from session_tokens where session_id = ${sessionId}`
      await sql()`
        insert into session_tokens (id, session_id, kind, verifier, expires_at) values
        (${access.id}, ${sessionId}, 'access', decode(${hex(verifier)}, 'hex'), now() + interval '1 hour'),
        (${refresh.id}, ${sessionId}, 'refresh', decode(${hex(other)}, 'hex'), now() + interval '1 hour')`
      await expectNoSession(access.text, refresh.text)
    }
    await expectSession(await logInAs(stage.app, ada.person), ada.person)
  })

  test('a session that is moved from another person is rejected, and accepted again once it is put back', async () => {
    const own = await logInAs(stage.app, mallory.person)
    const { id } = parsed(own.token)
    const move = (userId: string) => sql()`
      update sessions set user_id = ${userId}
      where id = (select session_id from session_tokens where id = ${id})`
    await expectSession(own, mallory.person)
    await move(ada.person.userId)
    await expectNoSession(own.token, own.refresh)
    await move(mallory.person.userId)
    await expectSession(own, mallory.person)
  })

  test("a session does not accept another session's token", async () => {
    const [own, hers] = [
      await logInAs(stage.app, mallory.person),
      await logInAs(stage.app, ada.person),
    ]
    await sql()`
      update session_tokens set session_id =
        (select session_id from session_tokens where id = ${parsed(hers.token).id})
      where id in (${parsed(own.token).id}, ${parsed(own.refresh).id})`
    await expectNoSession(own.token, own.refresh)
    await expectSession(hers, ada.person)
  })

  test("a session is not opened by another token's verifier", async () => {
    const [own, hers] = [
      await logInAs(stage.app, mallory.person),
      await logInAs(stage.app, ada.person),
    ]
    const { id } = parsed(hers.token)
    await sql()`
      update session_tokens set verifier =
        (select verifier from session_tokens where id = ${parsed(own.token).id})
      where id = ${id}`
    await expectNoSession(formatToken('ses', id, parsed(own.token).secret))
  })

  test('a session does not accept an access token as a refresh token', async () => {
    const own = await logInAs(stage.app, mallory.person)
    const { id, secret } = parsed(own.token)
    await sql()`update session_tokens set kind = 'refresh' where id = ${id}`
    await expectNoSession(own.token, formatToken('ref', id, secret))
  })
})

describe('a password', () => {
  const refused = (email: string, password: string) =>
    stage.app.call('POST', '/api/auth/login/', { body: { email, password } })

  test('a password that is copied from another account or made up opens nothing', async () => {
    const person = await registerPerson(stage.app, 'copied')
    const [stored] = await sql()<{ hash: string }[]>`
      select password_hash as hash from users where id = ${person.userId}`
    const [own] = await sql()<{ hash: string }[]>`
      select password_hash as hash from users where id = ${mallory.person.userId}`
    const chosen = await Bun.password.hash('chosen by mallory')
    const forged: [hash: string, password: string][] = [
      [own?.hash ?? '', mallory.person.password],
      [chosen, 'chosen by mallory'],
      [`${chosen}$${stage.app.pepper.keyIds[0]}`, 'chosen by mallory'],
    ]
    for (const [hash, password] of forged) {
      await sql()`update users set password_hash = ${hash} where id = ${person.userId}`
      expectFailure(await refused(person.email, password), 'invalid_credentials')
    }
    await sql()`update users set password_hash = ${stored?.hash ?? ''} where id = ${person.userId}`
    expect((await refused(person.email, person.password)).status).toBe(200)
  })

  test("another account's recovery key does not unlock this one", async () => {
    const person = await registerPerson(stage.app, 'recovered')
    const begin = ({ recoveryKey }: Person) =>
      stage.app.call('POST', '/api/auth/recover/begin/', {
        body: { email: person.email, recovery_verifier: recoveryVerifier(recoveryKey) },
      })
    expect((await begin(person)).status).toBe(200)
    await sql()`
      update users set recovery_verifier_hash =
        (select recovery_verifier_hash from users where id = ${mallory.person.userId})
      where id = ${person.userId}`
    const message = 'The email address or recovery key is wrong.'
    expectFailure(await begin(mallory.person), 'invalid_credentials', { message })
    expectFailure(await begin(person), 'invalid_credentials', { message })
  })
})

describe('a token', () => {
  const call = { headers: { 'X-Key': 'SVC_SECRET_KEY' } }
  const resolve = (token: string) =>
    fetch(`${stage.app.resolver}/v1/resolve`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...call, target_url: stage.url('/') }),
    })
  const deliver = (token: string) =>
    fetch(`${stage.app.resolver}/api/workloads/env/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })

  async function expectNoToken(id: string, secret: Uint8Array, kind: 'agt' | 'wkl' = 'agt') {
    for (const text of [formatToken(kind, id, secret), formatSealedToken(id, secret)]) {
      for (const answer of [await resolve(text), await deliver(text)]) {
        expect([answer.status, await answer.json()]).toMatchObject([
          401,
          { error_code: 'invalid_token' },
        ])
      }
    }
  }

  test('a made-up row does not authenticate', async () => {
    for (const kind of ['agt', 'wkl'] as const) {
      const { id, secret, text } = mintToken(kind)
      await sql()`
        insert into tokens (id, workspace_id, kind, agent_id, label, verifier, public_key, capabilities)
        select ${id}, workspace_id, ${kind === 'agt' ? 'agent' : 'workload'}, agent_id, 'forged',
          ''::bytea, public_key, capabilities
        from tokens where id = ${ada.tokenId}`
      for (const [, verifier] of madeUp(parsed(text))) {
        await sql()`
          update tokens set verifier = decode(${hex(verifier)}, 'hex') where id = ${id}`
        await expectNoToken(id, secret, kind)
      }
    }
    expect((await resolve(ada.token)).status).toBe(200)
  })

  test('a token that is moved from another workspace is rejected, and accepted again once it is put back', async () => {
    const issued = await mallory.issue()
    await mallory.provision(issued)
    const { id, secret } = parsed(issued.text)
    const move = (to: Agent) => sql()`
      update tokens set workspace_id = ${to.workspaceId}, agent_id = ${to.registrationId}
      where id = ${id}`
    await move(ada)
    await expectNoToken(id, secret)
    await move(mallory)
    // The time for which a row is cached.
    stage.app.clock.advance(6_000)
    expect((await resolve(issued.text)).status).toBe(200)
  })

  test('a token does not open with the verifier of another, or as another kind', async () => {
    const [own, hers] = [await mallory.issue(), await ada.issue()]
    const { secret } = parsed(own.text)
    await sql()`
      update tokens set verifier = (select verifier from tokens where id = ${own.id})
      where id = ${hers.id}`
    await expectNoToken(hers.id, secret)
    await sql()`update tokens set kind = 'workload' where id = ${own.id}`
    await expectNoToken(own.id, secret, 'wkl')
  })

  test("a token gets no key from another token's envelope", async () => {
    const own = await mallory.issue()
    const copy = (workspaceId: string) => sql()`
      insert into token_envelopes (token_id, workspace_id, project_id, environment, epoch, envelope)
      select ${own.id}, ${workspaceId}, project_id, environment, epoch, envelope
      from token_envelopes where token_id = ${ada.tokenId}
      on conflict (token_id, project_id, environment) do update set workspace_id = excluded.workspace_id`
    for (const { workspaceId } of [ada, mallory]) {
      await copy(workspaceId)
      const answer = await resolve(own.text)
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(await answer.text()).not.toContain('sk_live')
    }
    await mallory.provision(own)
    expect((await resolve(own.text)).status).toBe(200)
  })
})

// Only signed workspaces limit what a forged role can do with ciphertext, names and tokens.
describe('a membership', () => {
  test('a made-up membership gives no key', async () => {
    const person = await registerPerson(stage.app, 'intruder')
    const join = (envelope: 'copied' | 'junk') => sql()`
      insert into memberships (id, workspace_id, user_id, role, status, encrypted_workspace_key)
      select ${Bun.randomUUIDv7()}, workspace_id, ${person.userId}, 'owner', 'active',
        case when ${envelope} = 'copied' then encrypted_workspace_key else ${'junk'}::bytea end
      from memberships where workspace_id = ${ada.workspaceId} and user_id = ${ada.person.userId}`
    for (const envelope of ['copied', 'junk'] as const) {
      await join(envelope)
      const workspaces = await stage.app.call('GET', '/api/workspaces/', { token: person.token })
      expect(JSON.stringify(workspaces.body)).toContain('"encrypted_workspace_key":null')
      const params = { project_id: ada.projectId }
      const query = { environment: ada.environment, include: 'value' } as const
      const secrets = await person.api.call(listSecrets, { params, query })
      const keys = [person.workspaceKey, person.privateKey, person.masterKey]
      for (const { key, value } of secrets) {
        const place = { projectId: ada.projectId, environment: ada.environment, key }
        const bytes = fromBase64(value ?? '') ?? new Uint8Array()
        const opened = keys.flatMap((candidate) => {
          const own = environmentKey(candidate, ada.projectId, ada.environment, 1)
          return [candidate, own].map((one) => openSecretValue(one, place, null, bytes))
        })
        expect(opened).toEqual(opened.map(() => null))
      }
      expect(secrets).toHaveLength(1)
      await sql()`
        delete from memberships
        where workspace_id = ${ada.workspaceId} and user_id = ${person.userId}`
    }
    const { workspaces } = await stage.app.as().call(login, {
      body: { email: ada.person.email, password: ada.person.password },
    })
    const [own] = workspaces
    const opened = own && (await openWorkspace(own, ada.person.privateKey, ada.person.publicKey))
    expect(toBase64(opened?.key ?? new Uint8Array())).toBe(toBase64(ada.person.workspaceKey))
  })
})
