// tier: quick
/**
 * `curl -X POST $RESOLVER/api/workloads/env/` with an agent's own token printed every value.
 * A token that may use is never answered with a value, a ciphertext or an envelope; one that may read is.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Capability, capabilities } from '../../src/core/capability.ts'
import { formatSealedToken, parseToken } from '../../src/core/crypto/token.ts'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import { issueWorkloadToken } from '../../src/features/agents/contract.ts'
import { deliverEnvironment } from '../../src/features/workloads/contract.ts'
import type { Endpoint, TokenEndpoint } from '../../src/http/endpoint.ts'
import type { Surface } from '../../src/http/reply.ts'
import {
  type Agent,
  createAgentWithToken,
  type IssuedToken,
  recordOf,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { callJson } from '../support/app.ts'
import { marked } from '../support/canary.ts'

const VALUE = marked('agent-never-reads-this-value')

let stage: Stage
let agent: Agent
/** Agents' tokens for the project and its environment, by their permissions. */
const tokens = new Map<string, IssuedToken>()

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE }, ofProject: true })
  for (const may of [['use'], ['use', 'read'], ['read']] as Capability[][]) {
    const issued = await agent.issue({ environment: 'development', capabilities: may })
    await agent.provision(issued)
    tokens.set(may.join(), issued)
  }
})
afterAll(() => stage.stop())

const listeners = ['control-plane', 'resolver'] as const
const forms = ['plain', 'sealed'] as const

function originOf(listener: Surface): string {
  return listener === 'resolver' ? stage.app.resolver : stage.app.controlPlane
}

/** The token with this permission, in one of its forms. */
function tokenOf(may: string, form: (typeof forms)[number] = 'plain'): string {
  const { text = '' } = tokens.get(may) ?? {}
  const parsed = parseToken(text)
  if (form === 'plain' || !parsed) return text
  return formatSealedToken(parsed.id, parsed.secret)
}

const ISSUE_ONE = 'Ask an admin for one that may: cloakroom token issue <agent> --may use,read'
const MAY_NOT_READ = `This token may not read values. ${ISSUE_ONE}`
const SEALED = 'The sealed form of a token cannot open what this needs: send the token itself.'
const MAY_NOT_USE = `This token may not use credentials. ${ISSUE_ONE}`

/** No name, no value and nothing that opens one. */
function expectNothingOf(text: string): void {
  expect(text).not.toContain(VALUE)
  expect(text).not.toMatch(/secrets|sealed|envelope|KEY/)
}

describe.each(listeners)('delivery on the %s', (listener) => {
  const path = deliverEnvironment.path

  describe.each(forms)('in the %s form', (form) => {
    test.each([
      ['as curl sends it', undefined],
      ['with a body that narrows', { environment: 'development' }],
      ['with a body that contradicts', { environment: 'production' }],
      ['with a body that is refused', { all: true }],
    ])('a token that may only use is rejected %s, on record', async (_, body) => {
      for (const spelled of [path, path.slice(0, -1)]) {
        const token = tokenOf('use', form)
        const answer = await callJson(originOf(listener), 'POST', spelled, { token, body })
        expect(answer).toMatchObject({
          status: 403,
          body: { error_code: 'scope_required', message: MAY_NOT_READ },
        })
        expectNothingOf(JSON.stringify(answer.body))
        expect(await recordOf(stage.app, answer)).toMatchObject({
          action: 'credentials.read',
          source: 'resolver',
          decision: 'blocked',
          reason: 'scope_required',
          status_code: 403,
          credential_ref: null,
          token_id: tokens.get('use')?.id,
          registration_id: agent.registrationId,
        })
      }
    })

    test.each(['use,read', 'read'])('a token that may %s gets the values', async (may) => {
      const answer = await callJson(originOf(listener), 'POST', path, { token: tokenOf(may, form) })
      const delivered =
        form === 'plain'
          ? { secrets: { KEY: VALUE } }
          : { sealed: { KEY: { policy: null } }, envelopes: [{ environment: 'development' }] }
      expect(answer).toMatchObject({ status: 200, body: delivered })
      expect(await recordOf(stage.app, answer)).toMatchObject({
        action: 'credentials.read',
        decision: 'allowed',
        credential_ref: 'KEY',
      })
    })

    test.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'])(
      'by %s no values are returned, whatever the token may do',
      async (method) => {
        for (const may of tokens.keys()) {
          const response = await fetch(`${originOf(listener)}${path}`, {
            method,
            headers: { authorization: `Bearer ${tokenOf(may, form)}` },
          })
          expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
          expectNothingOf(await response.text())
        }
      },
    )
  })

  test('the first token of an agent is rejected, because it may only use', async () => {
    const answer = await callJson(originOf(listener), 'POST', path, {
      token: agent.token,
      body: { environment: 'development' },
    })
    expect(answer).toMatchObject({ status: 403, body: { error_code: 'scope_required' } })
  })

  test("no header or query changes a token's permissions", async () => {
    const token = tokenOf('use')
    const headers = { 'x-service-token': tokenOf('use'), 'x-http-method-override': 'GET' }
    const query = `${path}?capabilities=read&token=${tokenOf('read')}`
    const answer = await callJson(originOf(listener), 'POST', query, { token, headers })
    expect(answer.status).toBe(403)
  })

  test.each([
    ['as issued by default', {}, 'key_not_provisioned'],
    ['issued to read', { capabilities: ['read'] as Capability[] }, 'key_not_provisioned'],
    ['issued to use', { capabilities: ['use'] as Capability[] }, 'scope_required'],
  ])('a workload %s gets only what it may', async (_, order, code) => {
    const issued = await agent.person.api.call(issueWorkloadToken, {
      params: { project_id: agent.projectId },
      body: { label: Bun.randomUUIDv7(), environment: 'development', ...order },
    })
    const token = issued.token ?? ''
    const { body } = await callJson(originOf(listener), 'POST', path, { token })
    expect(body).toMatchObject({ error_code: code })
  })
})

/** Every endpoint that accepts a token, on every listener that serves it. */
const tokenEndpoints = listAllEndpoints().flatMap(({ surface, endpoints }) =>
  (endpoints as Endpoint[])
    .filter((endpoint): endpoint is TokenEndpoint => endpoint.access.kind === 'token')
    .map((endpoint) => [`${endpoint.name} on the ${surface}`, endpoint, surface] as const),
)

/** Requests that proceed as far as they can without an upstream. */
const bodies: Record<string, unknown> = {
  'resolver.resolve': { target_url: 'https://blocked.example/' },
  'audit.record': {
    timestamp: new Date().toISOString(),
    method: 'GET',
    target_domain: 'a.example',
  },
}

async function askFor(endpoint: TokenEndpoint, surface: Surface, token: string) {
  const path = endpoint.path.replace('{host}', 'blocked.example').replace('{path}', 'x')
  const body = bodies[endpoint.name]
  return callJson(originOf(surface), endpoint.method, path, { token, body })
}

test('this test covers every endpoint for tokens', () => {
  const asked = tokenEndpoints.map(([, { name, access }]) => `${name}: ${access.capability}`)
  expect([...new Set(asked)].sort()).toEqual([
    'audit.record: use',
    'links.list_for_token: read',
    'resolver.allowlist: use',
    'resolver.approval: use',
    'resolver.credentials: use',
    'resolver.forward.delete: use',
    'resolver.forward.get: use',
    'resolver.forward.options: use',
    'resolver.forward.patch: use',
    'resolver.forward.post: use',
    'resolver.forward.put: use',
    ...['delete', 'get', 'options', 'patch', 'post', 'put'].map(
      (method) => `resolver.forward_unversioned.${method}: use`,
    ),
    'resolver.proposal: use',
    'resolver.propose: use',
    'resolver.resolve: use',
    'resolver.shapes: use',
    'workloads.env: read',
    'workloads.token: null',
    'workloads.version: read',
  ])
})

describe.each(tokenEndpoints.filter(([, { access }]) => access.capability))(
  '%s',
  (_, endpoint, surface) => {
    const { capability, sealed } = endpoint.access
    const message = capability === 'read' ? MAY_NOT_READ : MAY_NOT_USE

    test('a token without the permission is rejected, on record', async () => {
      const [other = ''] = capabilities.filter((one) => one !== capability)
      for (const form of forms) {
        const answer = await askFor(endpoint, surface, tokenOf(other, form))
        expect(answer).toMatchObject({
          status: 403,
          body: { error_code: 'scope_required', message },
        })
        expect(await recordOf(stage.app, answer)).toMatchObject({
          action: endpoint.access.action ?? null,
          decision: 'blocked',
          reason: 'scope_required',
          token_id: tokens.get(other)?.id,
        })
      }
    })

    test('a token with the permission is accepted', async () => {
      for (const may of [capability ?? '', 'use,read']) {
        const { status, body } = await askFor(endpoint, surface, tokenOf(may))
        expect([status, (body as { error_code?: string }).error_code]).not.toEqual([
          403,
          'scope_required',
        ])
      }
    })

    test(`${sealed ? 'the sealed form of a token is accepted' : 'the sealed form of a token is rejected'}`, async () => {
      const { body } = await askFor(endpoint, surface, tokenOf('use,read', 'sealed'))
      const refusal = { error_code: 'scope_required', message: SEALED }
      if (sealed) expect(body).not.toMatchObject(refusal)
      else expect(body).toMatchObject(refusal)
    })
  },
)

test('no endpoint returns a value to a use token', async () => {
  for (const [, endpoint, surface] of tokenEndpoints) {
    for (const form of forms) {
      const { body } = await askFor(endpoint, surface, tokenOf('use', form))
      expect(JSON.stringify(body)).not.toContain(VALUE)
      expect(JSON.stringify(body)).not.toMatch(/"(sealed|envelopes|secrets|value|envelope)"/)
    }
  }
})
