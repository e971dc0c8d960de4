// tier: quick
/** Held secrets in deliveries (protocol 14.1): omitted with their reason, while all others arrive. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { uploadSecrets } from '../../../src/client/actions/set_secrets.ts'
import { makeToken } from '../../../src/client/agents/tokens.ts'
import { fetchEnvironment } from '../../../src/client/delivery/delivery.ts'
import type { EnvironmentPlace } from '../../../src/client/environment.ts'
import { openTokenEnvelope } from '../../../src/core/crypto/envelope.ts'
import { openSecretValue } from '../../../src/core/crypto/secret_value.ts'
import { formatSealedToken, parseToken, tokenPrivateKey } from '../../../src/core/crypto/token.ts'
import type { Policy } from '../../../src/core/policy/policy.ts'
import { issueWorkloadToken } from '../../../src/features/agents/contract.ts'
import { listSecrets } from '../../../src/features/secrets/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { marked } from '../../support/canary.ts'
import { openEnvironment } from '../../support/signed_environment.ts'
import { type SignedProject, signedProject } from '../../support/statements.ts'

const HELD: Policy = { approval: { by: 'member', ttl_seconds: 0 } }
const VALUE = marked('held_value_')

let app: TestApp
let project: SignedProject
let place: EnvironmentPlace
let token: string

beforeAll(async () => {
  app = await sharedApp()
})

/** A held secret, one that is kept out of environments, a usual one, and the token of a workload. */
beforeEach(async () => {
  project = await signedProject(app)
  place = openEnvironment(project)
  await store({ key: 'HELD', value: VALUE, policy: HELD })
  await store({ key: 'HEADER', value: 'in headers', policy: { allowed_locations: ['header'] } })
  await store({ key: 'USUAL', value: 'usual', policy: null })
  const { projectId, environment, workspace } = place
  const scope = { kind: 'workload', projectId, environment } as const
  const made = await makeToken(workspace, scope, { label: 'ci' }, [{ projectId, environment }])
  const body = { ...made.body, label: 'ci', environment }
  await place.api.call(issueWorkloadToken, { params: { project_id: projectId }, body })
  token = made.text
})

function store(entry: { key: string; value: string; policy: Policy | null }) {
  return uploadSecrets(place, [entry], true)
}

function deliver(text = token, body?: object) {
  return app.call('POST', '/api/workloads/env/', { token: text, ...(body && { body }) })
}

function sealedText(): string {
  const parsed = parseToken(token)
  if (!parsed) throw new Error('the token is whole')
  return formatSealedToken(parsed.id, parsed.secret)
}

describe('a plain delivery', () => {
  test('a plain delivery omits a held secret, and names the reason', async () => {
    expect(await deliver()).toMatchObject({
      status: 200,
      body: { secrets: { USUAL: 'usual' }, unavailable: { HELD: 'approval_required' } },
    })
    const { body } = await deliver(token, { names: ['HELD', 'USUAL', 'MISSING', 'toString'] })
    expect(body).toMatchObject({
      secrets: { USUAL: 'usual' },
      unavailable: {
        HELD: 'approval_required',
        MISSING: 'unknown_secret',
        toString: 'unknown_secret',
      },
    })
    expect((await deliver(token, { names: ['USUAL'] })).body).not.toHaveProperty('unavailable')
  })

  test('a plain delivery does not insert a held secret into another value', async () => {
    await store({ key: 'URL', value: 'https://${HELD}/', policy: { references: true } })
    const { status, body } = await deliver()
    expect(status).toBe(422)
    expect(body).toMatchObject({
      error_code: 'unresolved_reference',
      message: expect.stringContaining('URL refers to HELD, which needs approval for each use'),
    })
  })

  test('a plain delivery is rejected if the database claims that a usual secret is held', async () => {
    await app.connection.sql`update secrets set policy = ${JSON.stringify(HELD)}::text::json
      where key = 'USUAL' and workspace_id = ${project.workspaceId}`
    await app.connection.sql`update workspaces set policy_version = policy_version + 1
      where id = ${project.workspaceId}`
    expect(await deliver()).toMatchObject({
      status: 422,
      body: { error_code: 'unreadable_secret', message: expect.stringContaining('USUAL') },
    })
  })

  test('a plain delivery is rejected if the database claims that a held secret is not', async () => {
    await app.connection.sql`update secrets set policy = null
      where key = 'HELD' and workspace_id = ${project.workspaceId}`
    await app.connection.sql`update workspaces set policy_version = policy_version + 1
      where id = ${project.workspaceId}`
    const { status, body } = await deliver()
    expect([status, body]).toMatchObject([422, { error_code: 'unreadable_secret' }])
    expect(JSON.stringify(body)).not.toContain(VALUE)
  })
})

describe('a sealed delivery', () => {
  test('a sealed delivery verifies with a held secret among others, and includes its name', async () => {
    const fetched = await fetchEnvironment(app.controlPlane, token)
    expect(fetched.held).toEqual(['HELD'])
    expect(fetched.withheld).toEqual(['HEADER'])
    expect(Object.keys(fetched.sealed)).toEqual(['USUAL'])
    expect([...(await fetched.open())]).toEqual([['USUAL', { value: 'usual', policy: null }]])
    expect(fetched.seen?.revision).toBe(3)
  })

  test('a sealed delivery has neither ciphertext nor policy of a held secret', async () => {
    const { body } = await deliver(sealedText())
    const [held] = await place.api.call(listSecrets, {
      params: { project_id: project.projectId },
      query: { environment: place.environment, include: 'value' },
    })
    expect(JSON.stringify(body)).not.toContain(held?.value ?? VALUE)
    expect(JSON.stringify(body)).not.toContain('ttl_seconds')
  })

  test('a sealed delivery has a key that does not open the ciphertext of a held secret from the database', async () => {
    const { body } = await deliver(sealedText())
    const { envelopes } = body as { envelopes: { epoch: number; envelope: string }[] }
    const [envelope] = envelopes
    const parsed = parseToken(token)
    if (!parsed || !envelope) throw new Error('the token holds an envelope')
    const { projectId, environment } = place
    const granted = openTokenEnvelope(
      {
        workspaceId: project.workspaceId,
        tokenId: parsed.id,
        projectId,
        environment,
        epoch: envelope.epoch,
      },
      tokenPrivateKey(parsed.id, parsed.secret),
      Uint8Array.fromBase64(envelope.envelope),
    )
    const listed = await place.api.call(listSecrets, {
      params: { project_id: projectId },
      query: { environment, include: 'value' },
    })
    const opens = (key: string) => {
      const row = listed.find((one) => one.key === key)
      const ciphertext = Uint8Array.fromBase64(row?.value ?? '')
      const where = { projectId, environment, key }
      return granted && openSecretValue(granted, where, row?.policy, ciphertext)
    }
    expect(opens('USUAL')).not.toBeNull()
    expect(opens('HELD')).toBeNull()
  })

  test('a sealed delivery is rejected by a client if the server omits a held secret in the hashes', async () => {
    const answer = (await deliver(sealedText())).body as { value_sha256: Record<string, string> }
    expect(Object.keys(answer.value_sha256).sort()).toEqual(['HEADER', 'HELD'])
    await app.connection.sql`delete from secrets
      where key = 'HELD' and workspace_id = ${project.workspaceId}`
    await app.connection.sql`update workspaces set policy_version = policy_version + 1
      where id = ${project.workspaceId}`
    await expect(fetchEnvironment(app.controlPlane, token)).rejects.toThrow()
  })
})
