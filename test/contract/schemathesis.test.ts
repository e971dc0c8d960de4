// tier: all
/**
 * Requests that Schemathesis generates from the OpenAPI documents, valid and not, to both listeners with a person's
 * data: the document describes every answer. Accepted findings have a written reason.
 */
import { expect } from 'bun:test'
import { exampleId } from '../../src/http/fields.ts'
import { type Customer, enrol } from '../binary/independent_client.ts'
import { otherPython } from '../support/other_programs.ts'
import { requires } from '../support/requires.ts'
import { ofControlPlane, ofResolver, type Reason } from './known_findings.ts'
import { type Finding, type Run, runSchemathesis } from './schemathesis.ts'
import { type ContractStage, CRON_SECRET, openContractStage } from './stage.ts'

const { afterAll, beforeAll, test } = requires('python-venv')

let stage: ContractStage
beforeAll(async () => {
  stage = await openContractStage()
}, 120_000)
afterAll(() => stage.stop())

/** The number of fuzzed examples for each operation; examples that cover each schema are added. */
const examples = 3

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const places = ({ workspaceId, projectId, email }: Customer) => ({
  'path.workspace_id': workspaceId,
  'path.project_id': projectId,
  'path.project_name': 'api',
  'path.project': projectId,
  'path.environment': 'development',
  'path.key': 'STRIPE_API_KEY',
  'path.member': email,
  'path.registration_id': stage.agent.registrationId,
  'path.token_id': stage.agent.tokenId,
  'query.workspace_id': workspaceId,
})

const common = ({ customer, upstream, directory }: ContractStage) => ({
  examples,
  directory,
  standFor: {
    [exampleId(1)]: customer.workspaceId,
    [exampleId(2)]: customer.projectId,
    'api.stripe.com/v1/charges': `${upstream}/v1/charges`,
    '"production"': '"development"',
  },
})

/** Milliseconds: thousands of requests, on a machine that runs other tests too. */
const FUZZING_MS = 900_000

test.each([
  ['the resolver', onResolver, ofResolver],
  ['the control plane', onControlPlane, ofControlPlane],
] as const)(
  '%s answers the way its OpenAPI document describes',
  async (_, run, reasons) => {
    const python = await otherPython()
    const { findings, cases, output } = await run(python)
    expect(cases, output).toBeGreaterThan(1000)
    const unexplained = findings.filter(
      (finding) => !reasons.some((reason) => explains(reason, finding)),
    )
    expect(unexplained, unexplained.length > 0 ? output : '').toEqual([])
    expect(
      reasons.filter((reason) => !findings.some((finding) => explains(reason, finding))),
    ).toEqual([])
  },
  FUZZING_MS,
)

function explains({ code, status, said }: Reason, finding: Finding): boolean {
  return finding.code === code && finding.status === status && said.test(finding.said)
}

function onResolver(python: string): Promise<Run> {
  const { server, agent, upstream } = stage
  return runSchemathesis({
    ...{ python, origin: server.resolver, ...common(stage) },
    config: {
      headers: bearer(agent.token),
      parameters: { 'path.host': upstream },
      // An external API may be unavailable; the answer then reports that.
      checks: {
        not_a_server_error: { 'expected-statuses': ['2xx', '3xx', '4xx', '502', '504'] },
      },
    },
  })
}

/** Requests that delete, or end a session, do so to another person. */
async function onControlPlane(python: string): Promise<Run> {
  const { server, customer, agent } = stage
  const victim = await enrol(server.controlPlane)
  const leaver = await enrol(server.controlPlane)
  const ofAgent = { headers: bearer(agent.token) }
  return runSchemathesis({
    ...{ python, origin: server.controlPlane, ...common(stage) },
    config: {
      headers: bearer(customer.access),
      operations: [
        { 'include-path': '/api/auth/logout/', headers: bearer(leaver.access) },
        { 'include-path-regex': '^/api/workloads/', ...ofAgent },
        // An endless answer is not awaited.
        { 'include-path-regex': '/live/$', enabled: false },
        { 'include-path-regex': 'compute-metrics', headers: bearer(CRON_SECRET) },
        { 'include-method': 'DELETE', headers: bearer(victim.access), parameters: places(victim) },
        { 'exclude-method': 'DELETE', parameters: places(customer) },
      ],
    },
  })
}
