// tier: quick, both databases always
import { beforeAll, describe, expect, test } from 'bun:test'
import { and, eq, inArray, sql } from 'drizzle-orm'
import { grantEnvironment, sealSecret } from '../../../src/client/vault.ts'
import type { WorkspaceKey } from '../../../src/client/workspace_key.ts'
import { fromBase64, toBase64 } from '../../../src/core/crypto/encoding.ts'
import { openTokenEnvelope } from '../../../src/core/crypto/envelope.ts'
import {
  environmentKey,
  openSecretValue,
  sealSecretValue,
} from '../../../src/core/crypto/secret_value.ts'
import { formatSealedToken, parseToken, tokenKeyPair } from '../../../src/core/crypto/token.ts'
import { type FaultCode, messageOf, statusOf } from '../../../src/core/fault.ts'
import type { Policy } from '../../../src/core/policy/policy.ts'
import { auditLogs, secrets } from '../../../src/database/schema/index.ts'
import {
  issueWorkloadToken,
  provisionAgentToken,
  provisionWorkloadToken,
  registerAgent,
  revokeWorkloadToken,
  unprovisionWorkloadToken,
} from '../../../src/features/agents/contract.ts'
import { createProject } from '../../../src/features/projects/contract.ts'
import { deleteSecret, upsertSecrets } from '../../../src/features/secrets/contract.ts'
import { deliverEnvironment } from '../../../src/features/workloads/contract.ts'
import { adviceFor } from '../../../src/http/advice.ts'
import { type Answer, callJson, sharedApp, startTestApp, type TestApp } from '../../support/app.ts'
import { marked } from '../../support/canary.ts'
import { expectFailure, fixIn } from '../../support/failure.ts'
import { registerPerson } from '../../support/people.ts'
import { openTeam, type Team } from '../../support/teams.ts'

let app: TestApp
let team: Team
let workspace: WorkspaceKey

beforeAll(async () => {
  app = await sharedApp()
  team = await openTeam(app)
  workspace = { id: team.workspaceId, name: 'Team', epoch: 1, key: team.workspaceKey }
})

type Issued = { text: string; id: string; publicKey: string }
const issued = (answer: {
  token: string | null
  token_id: string
  public_key: string
}): Issued => ({
  text: answer.token ?? '',
  id: answer.token_id,
  publicKey: answer.public_key,
})

let counter = 0
/** A separate project, so that tests do not read each other's secrets. */
async function openPlace(environment = 'production') {
  counter += 1
  const { api } = team.owner
  const project = await api.call(createProject, {
    body: { name: `project-${counter}`, workspace_id: team.workspaceId },
  })
  const params = { project_id: project.id }
  const body = { label: `job-${counter}`, environment }
  const token = issued(await api.call(issueWorkloadToken, { params, body }))
  const place = {
    projectId: project.id,
    environment,
    label: body.label,
    token,
    store: async (values: Record<string, string>, policy: Policy | null = null) => {
      const entries = Object.entries(values).map(([key, value]) => ({
        key,
        policy,
        value: sealSecret(workspace, { projectId: project.id, environment, key }, policy, value),
      }))
      await api.call(upsertSecrets, {
        body: { project_id: project.id, environment, secrets: entries },
      })
    },
    provision: async (to: Issued = token) => {
      const grant = await grantEnvironment(null, workspace, to, {
        projectId: project.id,
        environment,
      })
      await api.call(provisionWorkloadToken, {
        params: { ...params, token_id: to.id },
        body: [grant],
      })
    },
  }
  await place.provision()
  return place
}

const path = deliverEnvironment.path
const deliver = (token: string, body?: unknown, origin = app.controlPlane) =>
  callJson(origin, 'POST', path, { token, body })

/** The complete audit record of a request, except its times. */
async function recordOf({ headers }: Answer) {
  const id = headers.get('x-request-id') ?? ''
  await app.flushAudit()
  const [found] = await app.connection.db.select().from(auditLogs).where(eq(auditLogs.id, id))
  return found
}

const listeners = () => [app.controlPlane, app.resolver]

/** The error on both listeners, each in its format, and its audit record. */
async function expectRefused(
  token: string,
  body: unknown,
  code: FaultCode,
  details: Parameters<typeof expectFailure>[2] = {},
) {
  const message = details.message ?? messageOf(code)
  const first = await deliver(token, body)
  expectFailure(first, code, details)
  const second = await deliver(token, body, app.resolver)
  const fields = details.fields?.map((field) => ` ${field.path}: ${field.message}`).join('') ?? ''
  expect({ status: second.status, body: second.body }).toEqual({
    status: statusOf(code),
    body: {
      error_code: code,
      message: `${message}${fields}`,
      ...adviceFor(code, fixIn(first.body)),
    },
  })
  return [await recordOf(first), await recordOf(second)] as const
}

describe('a delivery', () => {
  test('a delivery gives a workload all secrets of its environment, on both listeners', async () => {
    const place = await openPlace()
    const values = { URL: 'postgres://u:p@db/x', KEY: 'line one\nline two', EMPTY: '', UMLAUT: 'ü' }
    await place.store(values)
    for (const origin of listeners()) {
      const answer = await deliver(place.token.text, undefined, origin)
      expect({ status: answer.status, body: answer.body }).toEqual({
        status: 200,
        body: {
          status: 'success',
          workspace_id: team.workspaceId,
          project_id: place.projectId,
          environment: 'production',
          secrets: values,
        },
      })
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('content-type')).toContain('application/json')
    }
  })

  test('a delivery is recorded completely, with names and without values', async () => {
    const place = await openPlace()
    await place.store({ ALPHA: marked('first-marked-value'), BETA: marked('second-marked-value') })
    const answer = await deliver(place.token.text)
    expect(await recordOf(answer)).toEqual({
      id: expect.any(String),
      workspaceId: team.workspaceId,
      timestamp: expect.any(Date),
      recordedAt: expect.any(Date),
      source: 'resolver',
      identityLevel: 'workload',
      agentId: place.label,
      registrationId: null,
      tokenId: place.token.id,
      userId: null,
      projectId: place.projectId,
      environment: 'production',
      method: null,
      targetUrl: null,
      targetPath: null,
      targetDomain: null,
      credentialRef: 'ALPHA,BETA',
      injectionStyle: 'env',
      decision: 'allowed',
      reason: null,
      refusedBy: null,
      unfilled: null,
      approvalId: null,
      statusCode: 200,
      durationMs: expect.any(Number),
      redacted: false,
      action: 'credentials.read',
      resource: null,
      clientId: null,
      contentHash: null,
    })
    const [found] = await app.connection.sql`
      select count(*)::int as n from audit_logs a where a::text like '%marked-value%'`
    expect(found?.n).toBe(0)
    expect(app.logs.join('')).not.toContain('marked-value')
  })

  test('a delivery of an environment without secrets is empty, and needs no key', async () => {
    const place = await openPlace('staging')
    const answer = await deliver(place.token.text)
    expect(answer.body).toMatchObject({ environment: 'staging', secrets: {} })
    expect(await recordOf(answer)).toMatchObject({ credentialRef: null, injectionStyle: 'env' })
  })

  test('a delivery is current: with a new value, with a new name, and without a deleted one', async () => {
    const place = await openPlace()
    await place.store({ KEPT: 'old', GONE: 'x' })
    expect((await deliver(place.token.text)).body).toMatchObject({ secrets: { KEPT: 'old' } })
    await place.store({ KEPT: 'new', ADDED: 'y' })
    await team.owner.api.call(deleteSecret, {
      params: { project_id: place.projectId, key: 'GONE' },
      query: { environment: 'production' },
    })
    const { secrets: delivered } = (await deliver(place.token.text)).body as { secrets: unknown }
    expect(delivered).toEqual({ KEPT: 'new', ADDED: 'y' })
  })

  test('a delivery resolves values with references, and leaves text that only looks like one', async () => {
    const place = await openPlace()
    const [password, reference] = [marked('password'), `$\{PASSWORD}`]
    await place.store({ PASSWORD: password, TEXT: reference })
    const composed = { URL: `db://u:${reference}@h`, DEEP: `<$\{URL}>` }
    await place.store(composed, { references: true })
    for (const origin of listeners()) {
      const { body } = await deliver(place.token.text, undefined, origin)
      expect((body as { secrets: unknown }).secrets).toEqual({
        PASSWORD: password,
        TEXT: reference,
        URL: `db://u:${password}@h`,
        DEEP: `<db://u:${password}@h>`,
      })
    }
    const sealed = parseToken(place.token.text)
    if (!sealed) throw new Error('no token')
    const answer = await deliver(formatSealedToken(sealed.id, sealed.secret))
    expect(Object.keys((answer.body as { sealed: object }).sealed).sort()).toEqual([
      'DEEP',
      'PASSWORD',
      'TEXT',
      'URL',
    ])
  })

  test.each([
    [
      'GONE',
      null,
      'URL refers to GONE, which does not exist, or whose policy excludes it from environments.',
    ],
    ['URL', null, 'URL refers to URL: this is a circular reference.'],
    [
      'HEADER',
      ['header'],
      'URL refers to HEADER, which does not exist, or whose policy excludes it from environments.',
    ],
  ])(
    'a delivery with a reference to %s that does not resolve gives nothing',
    async (name, places, message) => {
      const place = await openPlace()
      await place.store({ OTHER: 'goes on' })
      if (places) await place.store({ [name]: 'kept' }, { allowed_locations: ['header'] })
      expect((await deliver(place.token.text)).status).toBe(200)
      await place.store({ URL: `db://\${${name}}` }, { references: true })
      const records = await expectRefused(place.token.text, undefined, 'unresolved_reference', {
        message,
      })
      for (const record of records) {
        expect(record).toMatchObject({ decision: 'error', reason: 'unresolved_reference' })
      }
    },
  )

  test('a delivery omits secrets whose policy lists locations without env', async () => {
    const place = await openPlace()
    await place.store({ OPEN: 'a' })
    await place.store({ BOUND: 'b' }, { allowed_domains: ['api.example.com'] })
    await place.store({ LISTED: 'c' }, { allowed_locations: ['header', 'env'] })
    await place.store({ HEADER: 'd' }, { allowed_locations: ['header'] })
    await place.store({ NOWHERE: 'e' }, { allowed_locations: [] })
    const answer = await deliver(place.token.text)
    expect((answer.body as { secrets: unknown }).secrets).toEqual({
      OPEN: 'a',
      BOUND: 'b',
      LISTED: 'c',
    })
    expect(await recordOf(answer)).toMatchObject({ credentialRef: 'BOUND,LISTED,OPEN' })
  })

  test('a delivery never includes secrets of another project or environment', async () => {
    const [one, two] = [await openPlace(), await openPlace()]
    await one.store({ MINE: 'one' })
    await two.store({ MINE: 'two', OTHER: 'x' })
    expect((await deliver(one.token.text)).body).toMatchObject({ secrets: { MINE: 'one' } })
    expect((await deliver(two.token.text)).body).toMatchObject({
      secrets: { MINE: 'two', OTHER: 'x' },
    })
  })

  test('sixteen concurrent deliveries of a hundred secrets are each complete', async () => {
    const place = await openPlace()
    const values = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [`NAME_${n}`, `value ${n} ${'x'.repeat(n)}`]),
    )
    await place.store(values)
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, n) =>
        deliver(place.token.text, undefined, listeners()[n % 2] ?? ''),
      ),
    )
    for (const { status, body } of answers)
      expect({ status, body }).toMatchObject({ status: 200, body: { secrets: values } })
    const ids = answers.map(({ headers }) => headers.get('x-request-id') ?? '')
    await app.flushAudit()
    const allowed = and(inArray(auditLogs.id, ids), eq(auditLogs.decision, 'allowed'))
    expect(await app.connection.db.$count(auditLogs, allowed)).toBe(64)
  })
})

describe('scope', () => {
  const issueTo = async (environment?: string) => {
    const params = { workspace_id: team.workspaceId }
    counter += 1
    const made = await team.owner.api.call(registerAgent, {
      params,
      body: {
        name: `agent-${counter}`,
        capabilities: ['use', 'read'],
        ...(environment ? { environment } : {}),
      },
    })
    return { ...issued(made), registrationId: made.agent.id }
  }

  test('an agent of the workspace must name project and environment, and gets those whose key it was granted', async () => {
    const place = await openPlace()
    await place.store({ TOKEN: 'value' })
    const agent = await issueTo()
    const named = { project_id: place.projectId, environment: 'production' }
    for (const [body, missing] of [
      [undefined, 'project_id'],
      [{}, 'project_id'],
      [{ project_id: place.projectId }, 'environment'],
      [{ environment: 'production' }, 'project_id'],
    ] as const) {
      const message = `The token is not limited to one ${missing}: name one.`
      for (const record of await expectRefused(agent.text, body, 'scope_required', { message }))
        expect(record).toMatchObject({
          decision: 'blocked',
          reason: 'scope_required',
          statusCode: 403,
          identityLevel: 'agent',
          registrationId: agent.registrationId,
          injectionStyle: 'env',
          credentialRef: null,
          projectId: null,
        })
    }
    for (const record of await expectRefused(agent.text, named, 'key_not_provisioned'))
      expect(record).toMatchObject({ decision: 'error', reason: 'key_not_provisioned' })
    const grant = await grantEnvironment(null, workspace, agent, {
      ...place,
      environment: 'production',
    })
    await team.owner.api.call(provisionAgentToken, {
      params: {
        workspace_id: team.workspaceId,
        registration_id: agent.registrationId,
        token_id: agent.id,
      },
      body: [grant],
    })
    expect((await deliver(agent.text, named)).body).toMatchObject({ secrets: { TOKEN: 'value' } })
  })

  test('an agent with its own environment only needs to name the project', async () => {
    const place = await openPlace()
    const agent = await issueTo('production')
    const answer = await deliver(agent.text, { project_id: place.projectId })
    expect(answer.body).toMatchObject({ environment: 'production', secrets: {} })
  })

  test('a scope that contradicts the token is 403, and one that repeats it is not', async () => {
    const place = await openPlace()
    const other = await openPlace()
    const own = { project_id: place.projectId, environment: 'production' }
    expect((await deliver(place.token.text, own)).status).toBe(200)
    expect((await deliver(place.token.text, { project_id: null })).status).toBe(200)
    await expectRefused(place.token.text, { project_id: other.projectId }, 'scope_required', {
      message: `The token is for the project_id ${place.projectId} only.`,
    })
    await expectRefused(place.token.text, { ...own, environment: 'staging' }, 'scope_required', {
      message: 'The token is for the environment production only.',
    })
  })

  test('a project of another workspace is 404, like one that does not exist', async () => {
    const stranger = await registerPerson(app, 'stranger')
    const foreign = await stranger.api.call(createProject, { body: { name: 'theirs' } })
    const agent = await issueTo('production')
    for (const project_id of [foreign.id, Bun.randomUUIDv7()])
      for (const record of await expectRefused(agent.text, { project_id }, 'not_found'))
        expect(record).toMatchObject({ reason: 'not_found', statusCode: 404, projectId: null })
  })
})

describe('one secret that cannot be delivered', () => {
  const unreadable = (name: string) => ({
    message: `The secret ${name} cannot be decrypted. It was altered or sealed with another key.`,
  })

  test('an invalid ciphertext makes the whole answer 422 and is named', async () => {
    const place = await openPlace()
    await place.store({ GOOD: 'a' })
    await team.owner.api.call(upsertSecrets, {
      body: {
        project_id: place.projectId,
        environment: 'production',
        secrets: { STRANGE: toBase64(new Uint8Array(40).fill(9)) },
      },
    })
    for (const record of await expectRefused(
      place.token.text,
      undefined,
      'unreadable_secret',
      unreadable('STRANGE'),
    ))
      expect(record).toMatchObject({
        decision: 'error',
        reason: 'unreadable_secret',
        statusCode: 422,
      })
  })

  test('a secret with a policy that was altered in the database makes the answer 422, for more or for less', async () => {
    const place = await openPlace()
    await place.store({ BOUND: 'a' }, { allowed_locations: ['header'] })
    const { db } = app.connection
    for (const policy of [null, { allowed_locations: ['env'] }, { allowed_locations: [] }]) {
      await db.update(secrets).set({ policy }).where(eq(secrets.projectId, place.projectId))
      await expectRefused(place.token.text, undefined, 'unreadable_secret', unreadable('BOUND'))
    }
  })

  test('a secret with a row that was moved makes the answer 422', async () => {
    const [one, two] = [await openPlace(), await openPlace()]
    await one.store({ NAME: 'a' })
    await two.store({ NAME: 'b' })
    await app.connection.db.execute(sql`
      update secrets s set value = o.value from secrets o
      where s.project_id = ${one.projectId} and o.project_id = ${two.projectId}`)
    await expectRefused(one.token.text, undefined, 'unreadable_secret', unreadable('NAME'))
    const sealed = parseToken(one.token.text)
    const text = formatSealedToken(sealed?.id ?? '', sealed?.secret ?? new Uint8Array())
    await expectRefused(text, undefined, 'unreadable_secret', unreadable('NAME'))
  })

  test('a secret that is not UTF-8 text makes the answer 422, which reports it', async () => {
    const place = await openPlace()
    const key = environmentKey(workspace.key, place.projectId, 'production', 1)
    const at = { projectId: place.projectId, environment: 'production', key: 'BINARY' }
    const value = toBase64(sealSecretValue(key, at, null, 1, Uint8Array.of(0xff, 0xfe)))
    await team.owner.api.call(upsertSecrets, {
      body: { project_id: place.projectId, environment: 'production', secrets: { BINARY: value } },
    })
    await expectRefused(place.token.text, undefined, 'unreadable_secret', {
      message: 'The secret BINARY is not UTF-8 text, so it cannot be an environment variable.',
    })
  })
})

describe('a token', () => {
  test('a token with a removed grant gets nothing, however warm the caches are', async () => {
    const place = await openPlace()
    await place.store({ KEY: 'v' })
    expect((await deliver(place.token.text)).status).toBe(200)
    await team.owner.api.call(unprovisionWorkloadToken, {
      params: { project_id: place.projectId, token_id: place.token.id },
      query: { project_id: place.projectId, environment: 'production' },
    })
    await expectRefused(place.token.text, undefined, 'key_not_provisioned')
  })

  test('a session, a missing token, and an invalid one are 401', async () => {
    for (const token of [team.owner.token, 'svc_wkl_x', ''])
      await expectRefused(token, undefined, 'invalid_token')
    expectFailure(await app.call('POST', path), 'invalid_token')
  })

  test('a token has one rate over resolver and delivery', async () => {
    const slow = await startTestApp({ RATE_TOKEN: '2/60' })
    const { owner, workspaceId } = await openTeam(slow)
    const project = await owner.api.call(createProject, {
      body: { name: 'main', workspace_id: workspaceId },
    })
    const { token } = await owner.api.call(issueWorkloadToken, {
      params: { project_id: project.id },
      body: { label: 'ci', environment: 'production' },
    })
    const resolving = await callJson(slow.resolver, 'POST', '/v1/resolve', {
      token: token ?? '',
      body: { target_url: 'https://blocked.example.com/' },
    })
    expect(resolving.status).toBe(403)
    expect((await deliver(token ?? '', undefined, slow.controlPlane)).status).toBe(200)
    const third = await deliver(token ?? '', undefined, slow.controlPlane)
    expectFailure(third, 'rate_limited')
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0)
    await slow.stop()
  })
})

describe('sealed delivery', () => {
  const sealedOf = ({ text }: Issued) => {
    const parsed = parseToken(text)
    return formatSealedToken(parsed?.id ?? '', parsed?.secret ?? new Uint8Array())
  }

  test('a sealed delivery gives ciphertexts and the envelope, which only the whole token opens', async () => {
    const place = await openPlace()
    const policy = { allowed_locations: ['env' as const] }
    await place.store({ PLAIN: 'first' })
    await place.store({ BOUND: 'second' }, policy)
    await place.store({ HIDDEN: 'third' }, { allowed_locations: ['header'] })
    const answer = await deliver(sealedOf(place.token))
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: {
        status: 'success',
        workspace_id: team.workspaceId,
        project_id: place.projectId,
        environment: 'production',
        sealed: {
          BOUND: { value: expect.any(String), policy },
          PLAIN: { value: expect.any(String), policy: null },
        },
        envelopes: [
          {
            project_id: place.projectId,
            environment: 'production',
            epoch: 1,
            envelope: expect.any(String),
          },
        ],
      },
    })
    const { sealed, envelopes } = answer.body as {
      sealed: Record<string, { value: string; policy: Policy | null }>
      envelopes: { envelope: string }[]
    }
    const parsed = parseToken(place.token.text)
    const { privateKey } = tokenKeyPair(place.token.id, parsed?.secret ?? new Uint8Array())
    const at = { projectId: place.projectId, environment: 'production' }
    const key = await openTokenEnvelope(
      { workspaceId: team.workspaceId, tokenId: place.token.id, ...at, epoch: 1 },
      privateKey,
      fromBase64(envelopes[0]?.envelope ?? '') ?? new Uint8Array(),
    )
    const read = (name: string) =>
      openSecretValue(
        key ?? new Uint8Array(),
        { ...at, key: name },
        sealed[name]?.policy ?? null,
        fromBase64(sealed[name]?.value ?? '') ?? new Uint8Array(),
      )?.reveal()
    expect(new TextDecoder().decode(read('PLAIN'))).toBe('first')
    expect(new TextDecoder().decode(read('BOUND'))).toBe('second')
    expect(await recordOf(answer)).toMatchObject({
      credentialRef: 'BOUND,PLAIN',
      injectionStyle: 'env',
      decision: 'allowed',
      statusCode: 200,
      tokenId: place.token.id,
      identityLevel: 'workload',
    })
  })

  test('a sealed delivery without a grant is 409, and of an empty environment is empty', async () => {
    const place = await openPlace()
    expect((await deliver(sealedOf(place.token))).body).toMatchObject({ sealed: {} })
    await place.store({ KEY: 'v' })
    const { token, token_id, public_key } = await team.owner.api.call(issueWorkloadToken, {
      params: { project_id: place.projectId },
      body: { label: 'other', environment: 'production' },
    })
    const other = issued({ token, token_id, public_key })
    await expectRefused(sealedOf(other), undefined, 'key_not_provisioned')
  })

  test('a sealed delivery ends with the token too', async () => {
    const place = await openPlace()
    await place.store({ KEY: 'v' })
    expect((await deliver(sealedOf(place.token))).status).toBe(200)
    await team.owner.api.call(revokeWorkloadToken, {
      params: { project_id: place.projectId, token_id: place.token.id },
    })
    await expectRefused(sealedOf(place.token), undefined, 'invalid_token')
  })
})

describe('bodies', () => {
  test('unknown fields and wrong types are 422', async () => {
    const { token } = await openPlace()
    await expectRefused(token.text, { workspace_id: team.workspaceId }, 'validation_error', {
      fields: [{ path: 'workspace_id', message: 'is not a field of this request' }],
    })
    for (const body of [{ project_id: 'main' }, { environment: 'PROD' }, [], 'production']) {
      const answer = await deliver(token.text, body)
      expect(answer.status).toBe(422)
      expect(answer.body).toMatchObject({ error_code: 'validation_error' })
      expect(await recordOf(answer)).toBeUndefined()
    }
  })

  test('bodies that are not JSON, of another type or too large are rejected', async () => {
    const { token } = await openPlace()
    const raw = (body: string, type = 'application/json') =>
      fetch(`${app.controlPlane}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token.text}`, 'content-type': type },
        body,
      }).then(async (response) => ({ status: response.status, body: await response.json() }))
    expectFailure(await raw('{'), 'malformed_json')
    expectFailure(await raw('a=b', 'application/x-www-form-urlencoded'), 'unsupported_media_type')
    expectFailure(await raw(`{${' '.repeat(1_048_576)}}`), 'payload_too_large', {
      message: 'The request body may have at most 1048576 bytes.',
    })
  })

  test('bodies of other methods are 405', async () => {
    const answer = await app.call('GET', path)
    expectFailure(answer, 'method_not_allowed')
    expect(answer.headers.get('allow')).toBe('POST')
  })
})

test('a delivery that cannot be recorded gives nothing', async () => {
  const place = await openPlace()
  await place.store({ KEY: marked('marked-unrecorded') })
  expect((await deliver(place.token.text)).status).toBe(200)
  const { sql: connection } = app.connection
  await connection`alter table audit_journal rename to audit_journal_away`
  const answers = [
    await deliver(place.token.text),
    await deliver(place.token.text, {}, app.resolver),
  ]
  await connection`alter table audit_journal_away rename to audit_journal`
  expectFailure(answers[0] ?? { status: 0, body: null }, 'audit_unavailable')
  expect(answers[1]?.status).toBe(503)
  expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain(marked('marked-unrecorded'))
  expect((await deliver(place.token.text)).status).toBe(200)
})
