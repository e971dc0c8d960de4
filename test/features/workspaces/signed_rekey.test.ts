// tier: quick, both databases in test:all
/** A rekey of a signed workspace: its link arrives with manifests, statements and grants, in one step. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { toBase64, utf8 } from '../../../src/core/crypto/encoding.ts'
import { keyCommitment } from '../../../src/core/crypto/key_commitment.ts'
import { environmentKey, sealSecretValue } from '../../../src/core/crypto/secret_value.ts'
import type { FaultCode } from '../../../src/core/fault.ts'
import { issueWorkloadToken, listWorkloadTokens } from '../../../src/features/agents/contract.ts'
import { createProject, deleteProject } from '../../../src/features/projects/contract.ts'
import { listSecrets, upsertSecrets } from '../../../src/features/secrets/contract.ts'
import { type RekeyBody, rekeyWorkspace } from '../../../src/features/workspaces/contract.ts'
import { type Chain, extend, type SignedText, verifyManifest } from '../../../src/sigchain/index.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { expectRefusal } from '../../support/failure.ts'
import { envelopeFor } from '../../support/people.ts'
import {
  clientMade,
  envelopeOf,
  grantOf,
  type Minted,
  manifestOf,
  mint,
  type SignedProject,
  signedProject,
} from '../../support/statements.ts'

let app: TestApp
let project: SignedProject
let token: Minted
let empty: string

beforeAll(async () => {
  app = await sharedApp()
})

const inProject = () => ({ project_id: project.projectId })

/** A token, two environments with a secret each, and a project that was deleted with its manifest. */
beforeEach(async () => {
  project = await signedProject(app)
  const { api } = project.owner
  token = mint()
  const body = { token: await clientMade(project, token) }
  await api.call(issueWorkloadToken, { params: inProject(), body })
  for (const environment of ['development', 'production']) {
    const secrets = { KEY: project.seal('KEY', 'one', environment) }
    const manifest = await manifestOf(project, secrets, 1, { environment })
    await api.call(upsertSecrets, { body: { ...inProject(), environment, secrets, manifest } })
  }
  const made = { name: 'gone', workspace_id: project.workspaceId }
  empty = (await api.call(createProject, { body: made })).id
  const gone = { ...project, projectId: empty }
  const secrets = { OLD: project.seal('OLD', 'one') }
  const manifest = await manifestOf(gone, secrets, 1)
  await api.call(upsertSecrets, { body: { project_id: empty, secrets, manifest } })
  const params = { workspace_id: project.workspaceId, project_name: 'gone' }
  await api.call(deleteProject, { params })
})

type Rekey = {
  body: Required<Omit<RekeyBody, 'manifests' | 'derived'>> & { manifests: SignedText[] }
  after: SignedProject
}

/** The body that a client sends; `after` signs by the chain with the rekey's link. */
async function rekeyOf(): Promise<Rekey> {
  const { workspaceId, projectId, owner } = project
  const workspaceKey = new Uint8Array(randomBytes(32))
  const key_commitment = keyCommitment(workspaceId, 2, workspaceKey)
  const link = await project.link('epoch.advanced', { epoch: 2, key_commitment })
  const chain: Chain = await extend(await project.chain(), [link])
  const after = { ...project, workspaceKey, chain: async () => chain }
  const envelope = await envelopeFor(owner, { workspaceId, workspaceKey, epoch: 2 })
  const secrets = ['development', 'production'].map((environment) => {
    const key = environmentKey(workspaceKey, projectId, environment, 2)
    const place = { projectId, environment, key: 'KEY' }
    const value = toBase64(sealSecretValue(key, place, null, 2, utf8('one')))
    return { ...inProject(), environment, key: 'KEY', value, policy: null }
  })
  const manifests = await Promise.all(
    secrets.map(({ environment, key, value }) =>
      manifestOf(after, { [key]: value }, 2, { environment }),
    ),
  )
  const grant = await grantOf(after, token)
  const envelopes = [await envelopeOf(after, token)]
  const body = {
    ...{ epoch: 2, secrets, link, manifests },
    members: [{ user_id: owner.userId, encrypted_workspace_key: envelope }],
    tokens: [{ token_id: token.id, grant, envelopes }],
  }
  return { body, after }
}

function expectRefused(body: unknown, code: FaultCode, path?: string, message?: string) {
  const call = `/api/workspaces/${project.workspaceId}/rekey/`
  const fields = path ? [{ path, message: message ?? expect.any(String) }] : undefined
  const details = fields ? { fields } : {}
  return expectRefusal(app, ['POST', call, { token: project.owner.token, body }], code, details)
}

describe('a rekey', () => {
  test('a rekey replaces key, values, envelopes, statements, grants and manifests in one step', async () => {
    const { body, after } = await rekeyOf()
    const params = { workspace_id: project.workspaceId }
    await project.owner.api.call(rekeyWorkspace, { params, body })
    const chain = await project.chain()
    expect(chain).toMatchObject({ epoch: 2, head: (await after.chain()).head })
    for (const [at, environment] of ['development', 'production'].entries()) {
      const { data, beside } = await project.owner.api.whole(listSecrets, {
        params: inProject(),
        query: { environment },
      })
      expect(beside.manifest).toEqual(body.manifests[at])
      const rows = new Map(
        data.map(({ key, value_sha256 }) => [
          key,
          new Uint8Array(Buffer.from(value_sha256 ?? '', 'base64url')),
        ]),
      )
      const place = { projectId: project.projectId, environment, rows }
      expect(await verifyManifest(chain, body.manifests[at] as SignedText, place)).toMatchObject({
        ...{ revision: 2, epoch: 2 },
      })
    }
    const [shown] = await project.owner.api.list(listWorkloadTokens, { params: inProject() })
    expect(shown).toMatchObject({
      grant: body.tokens[0]?.grant,
      provisioned: [{ epoch: 2, statement: body.tokens[0]?.envelopes[0]?.statement }],
    })
    const left = await app.connection.sql`
      select project_id, statement from manifests where workspace_id = ${project.workspaceId}
      union all select project_id, statement from token_envelopes where workspace_id = ${project.workspaceId}`
    expect(left.map(({ project_id }) => project_id)).not.toContain(empty)
    expect(left.map(({ statement }) => statement)).toContain(
      body.tokens[0]?.envelopes[0]?.statement,
    )
    const secrets = { NEW: body.secrets[0]?.value ?? '' }
    const manifest = await manifestOf(after, { ...secrets, KEY: secrets.NEW }, 3)
    await project.owner.api.call(upsertSecrets, { body: { ...inProject(), secrets, manifest } })
  })

  test('a rekey without all parts, or with an invalid one, changes nothing', async () => {
    const { body, after } = await rekeyOf()
    const [first, second] = body.manifests as [SignedText, SignedText]
    const [held] = body.tokens
    const production = `manifests.${project.projectId}.production`
    await expectRefused({ ...body, manifests: [first] }, 'link_required', production, 'is missing')
    await expectRefused({ ...body, link: undefined }, 'link_required')
    const values = { KEY: body.secrets[0]?.value ?? '' }
    const late = await manifestOf(after, values, 1)
    await expectRefused({ ...body, manifests: [late, second] }, 'conflict')
    const wrong = await manifestOf(after, { KEY: body.secrets[1]?.value ?? '' }, 2)
    await expectRefused({ ...body, manifests: [wrong, second] }, 'link_refused', 'manifests.0')
    const before = await manifestOf(after, values, 2, { head: (await project.chain()).head })
    await expectRefused({ ...body, manifests: [before, second] }, 'link_refused', 'manifests.0')
    const none = await manifestOf(after, {}, 1, { environment: 'staging' })
    await expectRefused(
      { ...body, manifests: [first, second, none] },
      'link_refused',
      'manifests.2',
      'its environment has no stored manifest',
    )
    const [envelope] = held?.envelopes ?? []
    const bare = [{ ...held, envelopes: [{ ...envelope, statement: undefined }] }]
    const at = 'tokens.0.envelopes.0'
    await expectRefused({ ...body, tokens: bare }, 'link_required', `${at}.statement`, 'is missing')
    const other = [{ ...held, envelopes: [{ ...envelope, ...(await envelopeOf(after, mint())) }] }]
    await expectRefused({ ...body, tokens: other }, 'link_refused', at)
    const wider = [{ ...held, grant: await grantOf(after, token, { capabilities: ['read'] }) }]
    await expectRefused({ ...body, tokens: wider }, 'link_refused', 'tokens.0.grant')
    const params = { workspace_id: project.workspaceId }
    await project.owner.api.call(rekeyWorkspace, { params, body })
  })

  test('a rekey leaves a token that it does not name without envelopes', async () => {
    const { body } = await rekeyOf()
    const params = { workspace_id: project.workspaceId }
    await project.owner.api.call(rekeyWorkspace, { params, body: { ...body, tokens: [] } })
    const [shown] = await project.owner.api.list(listWorkloadTokens, { params: inProject() })
    expect(shown).toMatchObject({ provisioned: [], grant: expect.anything() })
  })
})
