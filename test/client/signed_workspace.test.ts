// tier: quick
/** The server accepts the data that a client signs for tokens, secrets and a new key, and others verify it. */
import { beforeAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { renewWorkspaceKey } from '../../src/client/actions/rekey.ts'
import { holderOf, makeToken } from '../../src/client/agents/tokens.ts'
import { fetchEnvironment } from '../../src/client/delivery/delivery.ts'
import {
  emptyRows,
  openWriter,
  readSecret,
  readSecrets,
  removeRows,
  storeRows,
} from '../../src/client/environment.ts'
import { Chains } from '../../src/client/signed/chain.ts'
import { grantEnvironment, openSecret, sealSecret } from '../../src/client/vault.ts'
import { type OpenWorkspace, toSignedWorkspace } from '../../src/client/workspace.ts'
import { fingerprint } from '../../src/core/crypto/fingerprint.ts'
import { parseToken, tokenKeyPair } from '../../src/core/crypto/token.ts'
import { manifests as manifestRows, tokenEnvelopes } from '../../src/database/schema/index.ts'
import {
  issueWorkloadToken,
  listAgentTokens,
  listWorkloadTokens,
  provisionWorkloadToken,
  registerAgent,
} from '../../src/features/agents/contract.ts'
import { listLinks } from '../../src/features/links/contract.ts'
import { deleteEnvironment } from '../../src/features/projects/contract.ts'
import {
  deleteSecret,
  listDeletedSecrets,
  listVersions,
  restoreSecretsEndpoint,
  rollBackSecret,
  upsertSecrets,
} from '../../src/features/secrets/contract.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import type { SignedPerson } from '../support/signed.ts'
import { envelopeOf, manifestOf, type SignedProject, signedProject } from '../support/statements.ts'
import { openMemory } from './signed_place.ts'

let app: TestApp
let project: SignedProject
let member: SignedPerson

beforeAll(async () => {
  app = await sharedApp()
  project = await signedProject(app)
  member = await project.join('member')
})

/** The workspace as a person has it open on another machine. */
function openedBy({ api, identity }: SignedPerson, now?: OpenWorkspace): OpenWorkspace {
  const { workspaceId: id, workspaceKey: key } = project
  const readLinks = (workspace_id: string, after: number) =>
    api.call(listLinks, { params: { workspace_id }, query: { after } })
  const chains = new Chains(readLinks, openMemory(), { met: () => {}, rekeyed: () => {} })
  const workspace = { id, name: 'acme', epoch: now?.epoch ?? 1, key: now?.key ?? key }
  return toSignedWorkspace(workspace, { chains, identity: async () => identity })
}

const inProject = () => ({ project_id: project.projectId })

function placeOf(person: SignedPerson, workspace: OpenWorkspace, environment: string) {
  return { api: person.api, workspace, projectId: project.projectId, environment }
}
type Place = ReturnType<typeof placeOf>

const here = (person: SignedPerson, environment: string) =>
  placeOf(person, openedBy(person), environment)

function put({ api, workspace, projectId, environment }: Place, values: Record<string, string>) {
  const secrets = Object.entries(values).map(([key, value]) => {
    const at = { projectId, environment, key }
    return { key, value: sealSecret(workspace, at, null, value) }
  })
  const place = { api, workspace, projectId, environment }
  return openWriter(place)(storeRows(secrets), (manifest) =>
    api.call(upsertSecrets, { body: { ...inProject(), environment, secrets, manifest } }),
  )
}

async function valuesOf(place: Place) {
  const secrets = await readSecrets(place, { include: 'value' })
  const opened = secrets.map(({ key, value = '' }) => {
    const secret = openSecret(place.workspace, { ...place, key }, null, value)
    return [key, secret && Buffer.from(secret.reveal()).toString()]
  })
  return Object.fromEntries(opened)
}

test('secrets are stored, changed, rolled back, deleted and restored by several people', async () => {
  const [ours, theirs] = [here(project.owner, 'changing'), here(member, 'changing')]
  const query = { environment: 'changing' }
  await put(ours, { A: '1', B: '1' })
  await put(theirs, { A: '2' })
  expect(await valuesOf(ours)).toEqual({ A: '2', B: '1' })
  const params = { ...inProject(), key: 'A' }
  const versions = await member.api.list(listVersions, {
    params,
    query: { ...query, include: 'value' },
  })
  const first = versions.find(({ version }) => version === 1)
  await openWriter(theirs)(storeRows([{ key: 'A', ...first }]), (manifest) =>
    member.api.call(rollBackSecret, {
      params,
      query,
      body: { version: 1, policy: null, manifest },
    }),
  )
  await openWriter(ours)(removeRows(['B']), (manifest) =>
    ours.api.call(deleteSecret, { params: { ...params, key: 'B' }, query, body: { manifest } }),
  )
  expect(await valuesOf(theirs)).toEqual({ A: '1' })
  const deleted = await member.api.list(listDeletedSecrets, { params: inProject(), query })
  await openWriter(theirs)(storeRows(deleted), (manifest) => {
    const body = { environment: 'changing', keys: ['B'], manifest }
    return member.api.call(restoreSecretsEndpoint, { params: inProject(), body })
  })
  expect(await valuesOf(ours)).toEqual({ A: '1', B: '1' })
  expect((await readSecret(ours, 'B')).version).toBe(1)
  await openWriter(ours)(emptyRows, (manifest) => {
    const where = { ...inProject(), environment: 'changing' }
    return ours.api.call(deleteEnvironment, { params: where, body: { manifest } })
  })
  expect(await valuesOf(theirs)).toEqual({})
})

test('each of many people who write at the same time succeeds, and nothing is lost', async () => {
  const people = [project.owner, member, project.owner, member]
  const places = people.map((person) => here(person, 'busy'))
  await Promise.all(places.map((place, at) => put(place, { [`N${at}`]: String(at) })))
  expect(await valuesOf(here(member, 'busy'))).toEqual({ N0: '0', N1: '1', N2: '2', N3: '3' })
})

test('an agent is registered, and a token granted further environments, by signed statements', async () => {
  const { api } = project.owner
  const workspace = openedBy(project.owner)
  const id = Bun.randomUUIDv7()
  const scope = { kind: 'agent', agentId: id, projectId: null, environment: null } as const
  const made = await makeToken(workspace, scope, { label: 'first' }, [])
  const params = { workspace_id: project.workspaceId }
  const { agent } = await api.call(registerAgent, {
    params,
    body: { id, name: 'bot', ...made.body },
  })
  expect(agent.id).toBe(id)
  const place = { projectId: project.projectId, environment: 'granted' }
  const ofWorkload = { kind: 'workload', ...place } as const
  const token = await makeToken(workspace, ofWorkload, { label: 'ci', expires_in_days: 7 }, [])
  const body = { ...token.body, label: 'ci', environment: 'granted' }
  await api.call(issueWorkloadToken, { params: inProject(), body })
  const listed = (await api.list(listWorkloadTokens, { params: inProject() })).find(
    (one) => one.id === token.id,
  )
  if (!listed) throw new Error('the token is listed')
  expect(listed).toMatchObject({ label: 'ci', expires_in_days: 7, capabilities: ['use', 'read'] })
  const holder = await holderOf(workspace, listed, place)
  const envelope = await grantEnvironment(await workspace.signer(), workspace, holder, place)
  const path = { ...inProject(), token_id: token.id }
  await api.call(provisionWorkloadToken, { params: path, body: [envelope] })
  // A key that someone put into the row gets no envelope.
  const replaced = { ...listed, public_key: member.identity.public_key }
  expect(holderOf(workspace, replaced, place)).rejects.toThrow('does not match its signatures')
  // Another person's token gets no envelope either, although an administrator granted it.
  for (const [token, owner] of [
    [listed, { agentId: id }],
    [listed, { projectId: crypto.randomUUID() }],
    [{ ...listed, label: 'deploy' }, place],
  ] as const) {
    expect(holderOf(workspace, token, owner)).rejects.toThrow('it was granted to another agent')
  }
})

/** A token of the project's workload, with its key of an environment; returns its id. */
async function issue(by: SignedPerson, workspace: OpenWorkspace, label: string) {
  const place = { projectId: project.projectId, environment: 'busy' }
  const made = await makeToken(workspace, { kind: 'workload', ...place }, { label }, [place])
  const body = { ...made.body, label, environment: 'busy' }
  await by.api.call(issueWorkloadToken, { params: inProject(), body })
  return made
}

const tokenOf = async (id: string) =>
  (await project.owner.api.list(listWorkloadTokens, { params: inProject() })).find(
    (token) => token.id === id,
  )

test('a rekey copies verified values and lists all others', async () => {
  const workspace = openedBy(project.owner)
  const { api } = project.owner
  const [carried, forged] = [
    await issue(project.owner, workspace, 'carried'),
    await issue(project.owner, workspace, 'forged'),
  ]
  const other = await issue(project.owner, workspace, 'other')
  const { publicKey } = tokenKeyPair(other.id, parseToken(other.text)?.secret ?? new Uint8Array())
  await app.connection.sql`update tokens set public_key = ${publicKey} where id = ${forged.id}`
  const { next, left, members } = await renewWorkspaceKey({ api, workspace }, () => {
    throw new Error('nobody is asked: the chain says whose keys they are')
  })
  expect(members).toBe(2)
  expect(left).toContainEqual({
    ...{ id: forged.id, label: 'forged', creator: project.owner.email },
    // The fingerprint of the key that the server shows: the owner of the real key sees that it differs.
    fingerprint: await fingerprint(new Uint8Array(publicKey)),
    reason: expect.stringContaining('the grant is refused'),
  })
  expect(left.map(({ label }) => label)).not.toContain('carried')
  const theirs = placeOf(member, openedBy(member, next), 'busy')
  expect(await valuesOf(theirs)).toEqual({ N0: '0', N1: '1', N2: '2', N3: '3' })
  await put(theirs, { N4: '4' })
  const token = await tokenOf(carried.id)
  expect(token?.provisioned).toMatchObject([{ environment: 'busy', epoch: 2 }])
  const { open } = await fetchEnvironment(app.controlPlane, carried.text)
  expect([...(await open()).keys()]).toEqual(['N0', 'N1', 'N2', 'N3', 'N4'])
  await expect(fetchEnvironment(app.controlPlane, forged.text)).rejects.toThrow()
})

test('a rekey gives a granted token no environment that only the database lists', async () => {
  const before = project
  project = await signedProject(app)
  const { workspaceId, projectId, owner } = project
  const thief = await project.join('member')
  const workspace = openedBy(owner)
  for (const environment of ['development', 'production'])
    await put(placeOf(owner, workspace, environment), { KEY: 'value' })
  const [id, granted] = [Bun.randomUUIDv7(), { projectId, environment: 'development' }]
  const scope = { kind: 'agent', agentId: id, projectId: null, environment: null } as const
  const made = await makeToken(workspace, scope, { label: 'first' }, [granted])
  const params = { workspace_id: workspaceId }
  await owner.api.call(registerAgent, { params, body: { id, name: 'bot', ...made.body } })
  const { publicKey } = tokenKeyPair(made.id, parseToken(made.text)?.secret ?? new Uint8Array())
  const theirs = await envelopeOf(project, { id: made.id, publicKey }, 'theirs', { signer: thief })
  // By nobody, by a person without permission, and by an administrator for another environment.
  const { db } = app.connection
  const [row] = await db.select().from(tokenEnvelopes).where(eq(tokenEnvelopes.tokenId, made.id))
  if (!row) throw new Error('the token has an envelope')
  const signature = Uint8Array.fromBase64(theirs.signature)
  await db.insert(tokenEnvelopes).values([
    { ...row, environment: 'production', statement: null, signature: null },
    { ...row, environment: 'theirs', statement: theirs.statement, signature },
    { ...row, environment: 'staging' },
  ])
  const { left } = await renewWorkspaceKey({ api: owner.api, workspace }, () => {
    throw new Error('nobody is asked')
  })
  expect(left).toMatchObject([{ id: made.id, creator: owner.email }])
  const listed = await owner.api.list(listAgentTokens, {
    params: { ...params, registration_id: id },
  })
  expect(listed).toMatchObject([{ provisioned: [{ environment: 'development', epoch: 2 }] }])
  project = before
})

test('a rekey carries more emptied environments than the server names at once', async () => {
  const signed = await signedProject(app)
  const before = project
  project = signed
  const manifests = Array.from({ length: 201 }, async (_, at) => {
    const environment = `gone-${at}`
    const { statement, signature } = await manifestOf(signed, {}, 1, { environment })
    const place = { workspaceId: signed.workspaceId, projectId: signed.projectId, environment }
    return { ...place, revision: 1, statement, signature: Uint8Array.fromBase64(signature) }
  })
  await app.connection.db.insert(manifestRows).values(await Promise.all(manifests))
  const { next } = await renewWorkspaceKey(
    { api: signed.owner.api, workspace: openedBy(signed.owner) },
    () => {
      throw new Error('nobody is asked')
    },
  )
  expect(next.epoch).toBe(2)
  expect(await valuesOf(placeOf(signed.owner, openedBy(signed.owner, next), 'gone-200'))).toEqual(
    {},
  )
  project = before
})
