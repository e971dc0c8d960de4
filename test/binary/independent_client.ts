/**
 * A client that shares no code with the product: `fetch`, JSON and independent_crypto.ts. The master key is random
 * instead of derived from a password, which the server cannot detect.
 */
import { expect } from 'bun:test'
import {
  base64,
  base64url,
  fromBase64,
  hkdf,
  join,
  type KeyPair,
  keyPairOf,
  lp,
  open,
  openEnvelope,
  parseToken,
  random,
  seal,
  sealEnvelope,
  sha256,
  u32,
  utf8,
  uuid,
} from './independent_crypto.ts'

type Json = Record<string, unknown>
type Bytes = Uint8Array<ArrayBuffer>

export type Customer = {
  email: string
  password: string
  access: string
  workspaceId: string
  projectId: string
  /** The key that opens the environment `development` of the project. */
  environmentKey: Bytes
  call(method: string, path: string, body?: unknown): Promise<Json>
  /** The server has restarted at another address; the session survives that. */
  moveTo(origin: string): void
  /** Uploads secrets and expects an acknowledgement. */
  upload(secrets: Record<string, string>): Promise<void>
  /** Downloads and decrypts a secret. */
  download(key: string): Promise<string>
}

const NO_SALT = new Uint8Array(0)
const EPOCH = 1
const ENVIRONMENT = 'development'

/** One JSON call; fails the test unless the answer is a success. */
export async function callServer(
  origin: string,
  { method, path, body, token }: { method: string; path: string; body?: unknown; token?: string },
): Promise<Json> {
  const response = await fetch(`${origin}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Json
  expect({ method, path, ok: response.ok, answer }).toMatchObject({ method, path, ok: true })
  return answer
}

/** Registers a person with a workspace, logs in, opens the server's copy of the keys, and creates a project. */
export async function enrol(origin: string): Promise<Customer> {
  const email = `grace-${crypto.randomUUID()}@people.example`
  const masterKey = random(32)
  const password = base64url(await hkdf(masterKey, NO_SALT, utf8('cloakroom/v1/auth')))
  const userKey = await hkdf(masterKey, NO_SALT, utf8('cloakroom/v1/user-key'))
  await registerAs(origin, email, password, userKey)
  const { access, workspaceId, workspaceKey } = await logIn(origin, email, password, userKey)
  let at = origin
  const call = (method: string, path: string, body?: unknown) =>
    callServer(at, { method, path, body, token: access })
  const project = await call('POST', '/api/projects/', { name: 'api', workspace_id: workspaceId })
  const { id: projectId } = project.data as { id: string }
  const info = join(lp(utf8('cloakroom/v1/environment-key')), lp(utf8(ENVIRONMENT), u32(EPOCH)))
  const environmentKey = await hkdf(workspaceKey, uuid(projectId), info)
  const customer = { email, password, access, workspaceId, projectId, environmentKey, call }
  return {
    ...customer,
    moveTo: (next) => {
      at = next
    },
    upload: (secrets) => upload(customer, secrets),
    download: (key) => download(customer, key),
  }
}

async function registerAs(origin: string, email: string, password: string, userKey: Bytes) {
  const { privateKey, publicKey } = await keyPairOf(random(32))
  const workspaceId = crypto.randomUUID()
  const place = lp(uuid(workspaceId), publicKey, u32(EPOCH))
  const envelope = await sealEnvelope(publicKey, MEMBER, place, random(32))
  const wrapped = await seal(userKey, Uint8Array.of(1), privateKeyPlace(publicKey), privateKey)
  await callServer(origin, {
    method: 'POST',
    path: '/api/auth/register/',
    body: {
      email,
      password,
      public_key: base64(publicKey),
      encrypted_private_key: base64(wrapped),
      key_salt: base64(random(16)),
      workspace: { id: workspaceId, encrypted_workspace_key: base64(envelope) },
    },
  })
}

const MEMBER = 'cloakroom/v1/member-envelope'

function privateKeyPlace(publicKey: Bytes): Bytes {
  return lp(utf8('cloakroom/v1/private-key'), publicKey)
}

type LoginData = {
  access: string
  encrypted_private_key: string
  user: { public_key: string }
  workspaces: [{ id: string; encrypted_workspace_key: string }]
}

/** All data that the client needs is returned by the server and opens. */
async function logIn(origin: string, email: string, password: string, userKey: Bytes) {
  const body = { email, password }
  const answer = await callServer(origin, { method: 'POST', path: '/api/auth/login/', body })
  const { access, encrypted_private_key, user, workspaces } = answer.data as LoginData
  const publicKey = fromBase64(user.public_key)
  const wrapped = fromBase64(encrypted_private_key)
  const keys = await keyPairOf(await open(userKey, 1, privateKeyPlace(publicKey), wrapped))
  expect(keys.publicKey).toEqual(publicKey)
  const [{ id: workspaceId, encrypted_workspace_key }] = workspaces
  const place = lp(uuid(workspaceId), publicKey, u32(EPOCH))
  const workspaceKey = await openEnvelope(keys, MEMBER, place, fromBase64(encrypted_workspace_key))
  return { access, workspaceId, workspaceKey }
}

type Vault = Pick<Customer, 'call' | 'projectId' | 'environmentKey'>

/** The additional data of a secret without a policy, which is `null` in canonical JSON. */
async function secretPlace(projectId: string, key: string): Promise<Bytes> {
  const policy = await sha256(utf8('null'))
  const label = utf8('cloakroom/v1/secret')
  return lp(label, uuid(projectId), utf8(ENVIRONMENT), utf8(key), policy)
}

const SECRET_HEADER = join(Uint8Array.of(1), u32(EPOCH))

async function upload({ call, projectId, environmentKey }: Vault, values: Record<string, string>) {
  const secrets = await Promise.all(
    Object.entries(values).map(async ([key, value]) => {
      const place = await secretPlace(projectId, key)
      return { key, value: base64(await seal(environmentKey, SECRET_HEADER, place, utf8(value))) }
    }),
  )
  await call('POST', '/api/secrets/', { project_id: projectId, secrets })
}

async function download({ call, projectId, environmentKey }: Vault, key: string) {
  const { data } = await call('GET', `/api/secrets/${projectId}/${key}/`)
  const sealed = fromBase64((data as { value: string }).value)
  const place = await secretPlace(projectId, key)
  return new TextDecoder().decode(await open(environmentKey, SECRET_HEADER.length, place, sealed))
}

export type AgentToken = { token: string; tokenId: string; keys: KeyPair; registrationId: string }

/** Registers an agent and seals the key of the environment to its token. */
export async function createAgent(customer: Customer, capabilities = ['use']): Promise<AgentToken> {
  const { call, workspaceId } = customer
  const path = `/api/workspaces/${workspaceId}/agents/`
  const { data } = await call('POST', path, { name: `agent-${crypto.randomUUID()}`, capabilities })
  const issued = data as {
    token: string
    token_id: string
    public_key: string
    agent: { id: string }
  }
  const { prefix, id, secret, checksum, crc } = parseToken(issued.token)
  expect({ prefix, id, checksum }).toEqual({
    prefix: 'svc_agt_',
    id: uuid(issued.token_id),
    checksum: crc,
  })
  const keys = await keyPairOf(await hkdf(secret, id, utf8('cloakroom/v1/token-x25519')))
  expect(base64(keys.publicKey)).toBe(issued.public_key)
  const grant = await grantTo(customer, issued.token_id, keys.publicKey)
  await call('PUT', `${path}${issued.agent.id}/tokens/${issued.token_id}/envelopes/`, [grant])
  const { token, token_id: tokenId, agent } = issued
  return { token, tokenId, keys, registrationId: agent.id }
}

async function grantTo(customer: Customer, tokenId: string, publicKey: Bytes) {
  const { workspaceId, projectId, environmentKey } = customer
  const place = lp(uuid(workspaceId), uuid(tokenId), uuid(projectId), utf8(ENVIRONMENT), u32(EPOCH))
  const info = 'cloakroom/v1/token-envelope'
  const envelope = base64(await sealEnvelope(publicKey, info, place, environmentKey))
  return { project_id: projectId, environment: ENVIRONMENT, epoch: EPOCH, envelope }
}

export type AuditRecord = {
  target_path: string | null
  credential_ref: string | null
  decision: string
  status_code: number | null
  agent_id: string
}

/** All records of the resolver in the customer's workspace, newest first. */
export async function readAudit({ call, workspaceId }: Customer): Promise<AuditRecord[]> {
  const records: (AuditRecord & { source: string })[] = []
  let cursor = ''
  do {
    const query = `workspace_id=${workspaceId}&limit=500${cursor && `&cursor=${cursor}`}`
    const page = await call('GET', `/api/audit/logs/?${query}`)
    records.push(...(page.data as typeof records))
    const { next_cursor } = page.pagination as { next_cursor: string | null }
    cursor = next_cursor ?? ''
  } while (cursor !== '')
  return records.filter(({ source }) => source === 'resolver')
}
