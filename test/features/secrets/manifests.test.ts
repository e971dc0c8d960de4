// tier: quick, both databases always
/** Writes of secrets in signed workspaces: each with a manifest over the environment's new contents. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { sha256 } from '../../../src/core/crypto/primitives.ts'
import type { FaultCode } from '../../../src/core/fault.ts'
import { workspaceLinks } from '../../../src/database/schema/index.ts'
import {
  deleteEnvironment,
  deleteProject,
  restoreProject,
} from '../../../src/features/projects/contract.ts'
import {
  deleteSecret,
  getSecret,
  listDeletedSecrets,
  listSecrets,
  listVersions,
  restoreSecretsEndpoint,
  rollBackSecret,
  upsertSecrets,
} from '../../../src/features/secrets/contract.ts'
import { manifestRoot, type SignedText, verifyManifest } from '../../../src/sigchain/index.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { contentOf, expectFailure } from '../../support/failure.ts'
import { openProject } from '../../support/project.ts'
import { personOf, signedAccount } from '../../support/signed.ts'
import { manifestOf, type SignedProject, signedProject } from '../../support/statements.ts'

const environment = 'development'
type Values = Record<string, string>

let app: TestApp
let project: SignedProject
let values: Values

beforeAll(async () => {
  app = await sharedApp()
})

/** One secret of two versions, and another. */
beforeEach(async () => {
  project = await signedProject(app)
  values = {}
  await store({ KEY: project.seal('KEY', 'one') }, 1)
  await store({ KEY: project.seal('KEY', 'two'), OTHER: project.seal('OTHER', 'stays') }, 2)
})

const params = () => ({ project_id: project.projectId })
const hashOf = (value: string) => sha256(Buffer.from(value, 'base64'))
const shownHash = (value: string) => Buffer.from(hashOf(value)).toString('base64url')

async function store(added: Values, revision: number) {
  values = { ...values, ...added }
  const manifest = await manifestOf(project, values, revision)
  return project.owner.api.call(upsertSecrets, { body: { ...params(), secrets: added, manifest } })
}

async function listed(of = environment) {
  const input = { params: params(), query: { environment: of } }
  return project.owner.api.whole(listSecrets, input)
}

/** Checks a list like a client: everything in it was signed. */
async function expectSigned(expected: Values, revision: number, of = environment) {
  const { data, beside } = await listed(of)
  expect(data.map(({ key, value_sha256 }) => [key, value_sha256])).toEqual(
    Object.entries(expected)
      .sort()
      .map(([key, value]) => [key, shownHash(value)]),
  )
  const rows = new Map(
    data.map(({ key, value_sha256 }) => [
      key,
      new Uint8Array(Buffer.from(value_sha256 ?? '', 'base64url')),
    ]),
  )
  const place = { projectId: project.projectId, environment: of, rows }
  const verdict = await verifyManifest(await project.chain(), beside.manifest as SignedText, place)
  expect(verdict.revision).toBe(revision)
}

/** A link in the rows, inserted without the server. */
async function appendLink(...args: Parameters<SignedProject['link']>) {
  const { statement, signature } = await project.link(...args)
  const { seq } = await project.chain()
  const row = { statement, signature: Uint8Array.fromBase64(signature) }
  const { workspaceId } = project
  await app.connection.db.insert(workspaceLinks).values({ workspaceId, seq: seq + 1, ...row })
}

const paths = {
  secrets: '/api/secrets/',
  secret: () => `/api/secrets/${project.projectId}/KEY/?environment=${environment}`,
  rollback: () => `/api/secrets/${project.projectId}/KEY/rollback/?environment=${environment}`,
  restore: () => `/api/projects/${project.projectId}/secrets/restore/`,
  environment: () => `/api/projects/${project.projectId}/environments/${environment}/`,
}

/** The write must fail with this error, and leave everything unchanged. */
async function expectRefused(
  [method, path, body]: readonly [string, string, object],
  code: FaultCode,
  details: Parameters<typeof expectFailure>[2] = {},
) {
  const before = await contentOf(app)
  expectFailure(await app.call(method, path, { token: project.owner.token, body }), code, details)
  expect(await contentOf(app)).toEqual(before)
}

const missing = { fields: [{ path: 'manifest', message: 'is missing' }] }
const refusal = (why: string) => ({ fields: [{ path: 'manifest', message: why }] })

describe('a list', () => {
  test('a list matches its newest manifest, by name and hash, without a value', async () => {
    await expectSigned(values, 2)
    expect((await listed('production')).beside.manifest).toBeNull()
    const { data } = await listed()
    expect(data.every((secret) => !('value' in secret))).toBe(true)
  })

  test('a list of versions and of deleted secrets has the hash of each', async () => {
    const one = await project.owner.api.call(listVersions, {
      params: { ...params(), key: 'KEY' },
      query: { environment, include: 'value' },
    })
    expect(one.map(({ value = '', value_sha256 }) => [shownHash(value), value_sha256])).toEqual(
      one.map(({ value_sha256 }) => [value_sha256 ?? '', value_sha256]),
    )
    const manifest = await manifestOf(project, { OTHER: values.OTHER ?? '' }, 3)
    const input = { params: { ...params(), key: 'KEY' }, query: { environment } }
    await project.owner.api.call(deleteSecret, { ...input, body: { manifest } })
    const deleted = await project.owner.api.call(listDeletedSecrets, {
      params: params(),
      query: { environment },
    })
    expect(deleted.map(({ key, value_sha256 }) => [key, value_sha256])).toEqual([
      ['KEY', shownHash(values.KEY ?? '')],
    ])
  })

  test('a list of a plain workspace has no manifest', async () => {
    const plain = await openProject(app)
    const body = { project_id: plain.projectId, secrets: { KEY: plain.seal('KEY', 'one') } }
    await plain.owner.api.call(upsertSecrets, { body })
    const path = `/api/secrets/${plain.projectId}/?environment=${environment}`
    const { body: answer } = await app.call('GET', path, { token: plain.owner.token })
    expect(answer).not.toHaveProperty('manifest')
    expect(JSON.stringify(answer)).not.toContain('value_sha256')
  })
})

describe('each kind of write', () => {
  test('each kind of write carries a manifest of the next revision', async () => {
    const { api } = project.owner
    const ofKey = { params: { ...params(), key: 'KEY' }, query: { environment } }
    const without: Values = { OTHER: values.OTHER ?? '' }

    const deletion = await manifestOf(project, without, 3)
    await api.call(deleteSecret, { ...ofKey, body: { manifest: deletion } })
    await expectSigned(without, 3)

    const restoration = await manifestOf(project, values, 4)
    const body = { environment, keys: ['KEY'], manifest: restoration }
    await api.call(restoreSecretsEndpoint, { params: params(), body })
    await expectSigned(values, 4)

    const [, { value_sha256 } = {}] = await api.call(listVersions, ofKey)
    const hashes = new Map([
      ['KEY', new Uint8Array(Buffer.from(value_sha256 ?? '', 'base64url'))],
      ['OTHER', hashOf(values.OTHER ?? '')],
    ])
    const old = await api.call(listVersions, { ...ofKey, query: { environment, include: 'value' } })
    const back = { ...values, KEY: old[1]?.value ?? '' }
    expect(await manifestRoot(hashes)).toBe(
      JSON.parse((await manifestOf(project, back, 5)).statement).root,
    )
    const manifest = await manifestOf(project, back, 5)
    await api.call(rollBackSecret, { ...ofKey, body: { version: 1, manifest } })
    await expectSigned(back, 5)
    expect((await api.call(getSecret, ofKey)).value).toBe(back.KEY)

    const empty = await manifestOf(project, {}, 6)
    await api.call(deleteEnvironment, {
      params: { ...params(), environment },
      body: { manifest: empty },
    })
    await expectSigned({}, 6)
  })

  test('a write is rejected without a manifest, or with one for other contents or another revision', async () => {
    const value = project.seal('KEY', 'three')
    const after = { ...values, KEY: value }
    const one = { OTHER: values.OTHER ?? '' }
    const writes = [
      ['POST', paths.secrets, { ...params(), environment, secrets: { KEY: value } }, after],
      ['DELETE', paths.secret(), {}, one],
      ['DELETE', paths.environment(), {}, {}],
    ] as const
    for (const [method, path, body, result] of writes) {
      await expectRefused([method, path, body], 'link_required', missing)
      const wrong = { ...body, manifest: await manifestOf(project, { WRONG: value }, 3) }
      const why = 'the manifest is refused: the stored secrets differ from the signed ones'
      await expectRefused([method, path, wrong], 'link_refused', refusal(why))
      for (const revision of [1, 2, 4]) {
        const other = { ...body, manifest: await manifestOf(project, result, revision) }
        await expectRefused([method, path, other], 'conflict')
      }
    }
    await expectRefused(['POST', paths.rollback(), { version: 1 }], 'link_required', missing)
    await expectSigned(values, 2)
  })

  test('a write is rejected with a manifest that another person signed, or one for another place', async () => {
    const value = project.seal('KEY', 'three')
    const after = { ...values, KEY: value }
    const body = { ...params(), environment, secrets: { KEY: value } }
    const post = (manifest: SignedText, why: string) =>
      expectRefused(['POST', paths.secrets, { ...body, manifest }], 'link_refused', refusal(why))
    const stranger = await signedAccount(app)
    const good = await manifestOf(project, after, 3)
    await post(
      await manifestOf(project, after, 3, { signer: stranger }),
      'it was signed by another account',
    )
    const forged = await manifestOf(project, after, 3, {
      signer: { ...stranger, userId: project.owner.userId },
    })
    await post(forged, 'the manifest is refused: its signature is invalid')
    const elsewhere = await manifestOf(project, after, 3, { environment: 'production' })
    await post(elsewhere, 'the manifest is refused: it is about something else')
    const reformed = { ...good, statement: good.statement.replace('{', '{ ') }
    await post(reformed, 'the signed text is refused: it is malformed')
    const cut = await manifestOf(project, after, 3, { head: 'A'.repeat(43) })
    await post(
      cut,
      'the manifest is refused: it refers to another chain, or to links that are missing here',
    )
    await store({ KEY: value }, 3)
    await expectSigned(values, 3)
  })

  test('a write is rejected with an older link than the previous manifest names', async () => {
    const { head: old } = await project.chain()
    await appendLink('allowlist.changed', { add: ['a.example'], remove: [] })
    await store({ KEY: project.seal('KEY', 'three') }, 3)
    const value = project.seal('KEY', 'four')
    const after = { ...values, KEY: value }
    const manifest = await manifestOf(project, after, 4, { head: old })
    const body = { ...params(), environment, secrets: { KEY: value } }
    const why =
      'the manifest is refused: it refers to another chain, or to links that are missing here (the previous one names a newer link)'
    await expectRefused(
      ['POST', paths.secrets, { ...body, manifest }],
      'link_refused',
      refusal(why),
    )
    await store({ KEY: value }, 4)
  })

  test('a write is rejected from a person who may not write at the newest link, whatever link the manifest names', async () => {
    const { head: old } = await project.chain()
    const value = project.seal('KEY', 'three')
    const other = await signedAccount(app)
    const { identity } = await signedAccount(app)
    const manifest = await manifestOf(project, { ...values, KEY: value }, 3, { head: old })
    const body = { ...params(), environment, secrets: { KEY: value }, manifest }
    const why =
      'the manifest is refused: its signer does not have this right (its signer can no longer write)'
    const refused = () => expectRefused(['POST', paths.secrets, body], 'link_refused', refusal(why))
    await appendLink('members.put', { members: [{ ...personOf(other), role: 'owner' }] })
    const reader = [{ ...personOf(project.owner), role: 'read_only' as const }]
    await appendLink('members.put', { members: reader }, other)
    await refused()
    const writer = [{ ...personOf(project.owner), role: 'member' as const }]
    await appendLink('members.put', { members: writer }, other)
    const { signing_key, public_key } = identity
    await appendLink('keys.rotated', { signing_key, public_key })
    await refused()
  })

  test('a write in a plain workspace carries no manifest', async () => {
    const plain = await openProject(app)
    const secrets = { KEY: plain.seal('KEY', 'one') }
    const manifest = await manifestOf(project, values, 3)
    const body = { project_id: plain.projectId, secrets, manifest }
    const answer = await app.call('POST', paths.secrets, { token: plain.owner.token, body })
    expectFailure(answer, 'link_refused', refusal('this workspace is not signed: omit it'))
  })
})

describe('two concurrent writers', () => {
  test('two concurrent writers both succeed when the later one signs again, and no write is lost', async () => {
    const { api, token } = project.owner
    const write = async (key: string) => {
      const value = project.seal(key, key)
      for (let attempt = 1; ; attempt += 1) {
        const { data, beside } = await api.whole(listSecrets, {
          params: params(),
          query: { environment, include: 'value' },
        })
        const now = Object.fromEntries(data.map(({ key: name, value: held = '' }) => [name, held]))
        const { revision } = JSON.parse(beside.manifest?.statement ?? '')
        const manifest = await manifestOf(project, { ...now, [key]: value }, revision + 1)
        const body = { ...params(), environment, secrets: { [key]: value }, manifest }
        const answer = await app.call('POST', paths.secrets, { token, body })
        if (answer.status === 201) return { [key]: value, attempt }
        expectFailure(answer, 'conflict')
      }
    }
    const names = ['A', 'B', 'C', 'D']
    const written = await Promise.all(names.map(write))
    const { attempt: _, ...all } = Object.assign({}, ...written)
    await expectSigned({ ...values, ...all }, 6)
  })
})

describe('a deleted project', () => {
  test('a deleted project is restored with its manifests', async () => {
    const input = { params: { workspace_id: project.workspaceId, project_name: 'api' } }
    await project.owner.api.call(deleteProject, input)
    await project.owner.api.call(restoreProject, { params: params() })
    await expectSigned(values, 2)
  })
})
