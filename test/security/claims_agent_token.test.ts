// tier: quick
/**
 * An agent's token is sent to every endpoint, on both listeners and in both forms. All answers are searched for
 * values, ciphertexts, envelopes and keys.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { OuterLayer, secretRow } from '../../src/core/crypto/outer_layer.ts'
import { environmentKey } from '../../src/core/crypto/secret_value.ts'
import { formatSealedToken, parseToken } from '../../src/core/crypto/token.ts'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import { deliverEnvironment } from '../../src/features/workloads/contract.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import {
  type Agent,
  createAgentWithToken,
  type IssuedToken,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { answerOf } from '../support/upstream.ts'

const VALUE = marked('an-agent-never-reads-this')
const endpoints = listAllEndpoints().flatMap(({ endpoints: all }) => all as Endpoint[])

let stage: Stage
let agent: Agent
let reader: IssuedToken
let treasures: Record<string, Uint8Array>

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE }, ofProject: true })
  reader = await agent.issue({ environment: 'development', capabilities: ['use', 'read'] })
  await agent.provision(reader)
  treasures = await readTreasures()
  await addRequests()
  stage.upstream.on('/echo', (request, wire) => {
    const key = request.header('x-key') ?? ''
    wire.write(answerOf(200, { 'x-your-key': key }, JSON.stringify({ key, basic: btoa(key) })))
  })
})
afterAll(() => stage.stop())

/** A request for approval and a proposal of the token, which it may read. */
async function addRequests(): Promise<void> {
  const { sql } = stage.app.connection
  const { workspaceId, tokenId } = agent
  await sql`insert into approvals (id, workspace_id, token_id, agent, digest, host, method, secrets, requested_at,
      expires_at)
    values (${reader.id}, ${workspaceId}, ${tokenId}, 'agent', '', 'a.example', 'GET', '[]', now(),
      now() + interval '15 minutes')`
  await sql`insert into proposals (id, workspace_id, token_id, agent, reason, hosts, secrets, content_hash, created_at,
      expires_at)
    values (${reader.id}, ${workspaceId}, ${tokenId}, 'agent', 'to deploy', '[]', '[]', '', now(),
      now() + interval '7 days')`
}

/** Values that no answer may contain: as clients sent them, and as they are stored. */
async function readTreasures(): Promise<Record<string, Uint8Array>> {
  const { connection, config } = stage.app
  const outer = OuterLayer.parse(config.ENCRYPTION_KEY)
  const { workspaceId, projectId, environment, person } = agent
  const found: Record<string, Uint8Array> = {
    value: Buffer.from(VALUE),
    'workspace key': person.workspaceKey,
    'environment key': environmentKey(person.workspaceKey, projectId, environment, 1),
  }
  const [secret] = await connection.sql<{ value: Uint8Array }[]>`
    select value from secrets where project_id = ${projectId}`
  const stored = secret?.value ?? new Uint8Array()
  const place = secretRow({ projectId, environment, key: 'KEY' })
  found['stored ciphertext'] = stored
  found.ciphertext = (await outer.open('secrets.value', workspaceId, place, stored)) ?? stored
  const grants = await connection.sql<{ id: string; envelope: Uint8Array }[]>`
    select token_id as id, envelope from token_envelopes where workspace_id = ${workspaceId}`
  for (const { id, envelope } of grants) {
    const row = [{ uuid: id }, { uuid: projectId }, { text: environment }]
    const whose = id === reader.id ? "the reader's" : 'its own'
    const opened = await outer.open('token_envelopes.envelope', workspaceId, row, envelope)
    found[`stored envelope, ${whose}`] = envelope
    found[`envelope, ${whose}`] = opened ?? envelope
  }
  return found
}

/** The protected values that a text contains, plain or encoded. */
function treasuresIn(text: string): string[] {
  const bytes = Buffer.from(text, 'latin1')
  return Object.entries(treasures)
    .filter(([, treasure]) => formsOf(treasure).some((form) => bytes.includes(form)))
    .map(([name]) => name)
    .sort()
}

function formsOf(treasure: Uint8Array): (string | Uint8Array)[] {
  const hex = treasure.toHex()
  const base64 = [0, 1, 2].flatMap((lead) => {
    const shifted = Buffer.concat([Buffer.alloc(lead), treasure])
    return (['base64', 'base64url'] as const).map((form) => shifted.toString(form).slice(4, -4))
  })
  return [treasure, hex, hex.toUpperCase(), [...treasure].join(), ...base64]
}

const tokenIn = { plain: (text: string) => text, sealed: sealedFormOf }

function sealedFormOf(text: string): string {
  const parsed = parseToken(text)
  return parsed ? formatSealedToken(parsed.id, parsed.secret) : text
}

/** The path with each parameter replaced by an existing resource. */
function pathOf({ path }: Endpoint): string {
  const known: Record<string, string> = {
    workspace_id: agent.workspaceId,
    project_id: agent.projectId,
    project: agent.projectId,
    project_name: 'main',
    registration_id: agent.registrationId,
    token_id: reader.id,
    member: agent.person.userId,
    email: agent.person.email,
    key: 'KEY',
    domain: stage.authorityOf(),
    host: stage.authorityOf(),
    path: 'echo',
  }
  return path.replace(/\{(\w+)\}/g, (_, name) => known[name] ?? reader.id)
}

function bodyOf({ name, method }: Endpoint): unknown {
  if (method === 'GET' || method === 'OPTIONS') return undefined
  if (name === 'resolver.resolve') {
    return { target_url: stage.url('/echo'), headers: { 'X-Key': 'SVC_SECRET_KEY' } }
  }
  if (name.startsWith('resolver.forward')) return { any: 'body' }
  if (name === 'resolver.propose') return { reason: 'to deploy', hosts: ['a.example'] }
  if (name !== 'audit.record') return undefined
  return { timestamp: new Date().toISOString(), method: 'GET', target_domain: 'a.example' }
}

/** The whole answer: status, headers and body. */
async function ask(origin: string, endpoint: Endpoint, token: string) {
  const query = 'include=value&environment=development'
  const body = bodyOf(endpoint)
  const answer = await fetch(`${origin}${pathOf(endpoint)}?${query}`, {
    method: endpoint.method,
    headers: {
      ...(endpoint.name.startsWith('resolver.forward')
        ? { 'x-service-token': token, 'x-key': 'SVC_SECRET_KEY' }
        : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  const text = `${JSON.stringify([...answer.headers])}${bytes.toString('latin1')}`
  return { status: answer.status, text }
}

type Asked = { endpoint: Endpoint; origin: string; form: string; status: number; text: string }

/** Each endpoint on each listener, also on the one that does not serve it, with each form of a token. */
function everyWay() {
  const origins = [stage.app.controlPlane, stage.app.resolver]
  const forms = ['plain', 'sealed'] as const
  return endpoints.flatMap((endpoint) =>
    origins.flatMap((origin) => forms.map((form) => ({ endpoint, origin, form }))),
  )
}

describe("An agent's token uses credentials but does not read them. No endpoint returns a value, or a key to one, unless the token was issued to read.", () => {
  test('every endpoint of both listeners is asked, in every form, and answers with none of it', async () => {
    const asked: Asked[] = []
    for (const { endpoint, origin, form } of everyWay()) {
      const token = tokenIn[form](agent.token)
      asked.push({ endpoint, origin, form, ...(await ask(origin, endpoint, token)) })
    }
    const leaks = asked.map(({ endpoint, origin, form, text }) => ({
      at: `${endpoint.name}, ${form}, of ${origin}`,
      found: treasuresIn(text),
    }))
    expect(leaks.filter(({ found }) => found.length > 0)).toEqual([])
    // The walk is meaningful: endpoints for using credentials accepted the token.
    const forTokens = asked.filter(({ endpoint }) => endpoint.access.kind === 'token')
    const open = forTokens.filter(({ status }) => status < 300)
    const namesIn = (list: Asked[]) => new Set(list.map(({ endpoint }) => endpoint.name))
    expect([...namesIn(forTokens).difference(namesIn(open))]).toEqual([
      'workloads.env',
      'workloads.version',
      'links.list_for_token',
    ])
  }, 60_000)

  test('the values that the token may use did arrive at the API', () => {
    const keys = new Set(stage.upstream.received.map((request) => request.header('x-key')))
    expect(keys).toEqual(new Set([VALUE]))
  })

  test('a token that was issued to read is answered, and there the search finds it', async () => {
    for (const origin of [stage.app.controlPlane, stage.app.resolver]) {
      const values = await ask(origin, deliverEnvironment, reader.text)
      expect([values.status, treasuresIn(values.text)]).toEqual([200, ['value']])
      const sealed = await ask(origin, deliverEnvironment, sealedFormOf(reader.text))
      expect(sealed.status).toBe(200)
      expect(treasuresIn(sealed.text)).toEqual(['ciphertext', "envelope, the reader's"])
    }
  })
})
