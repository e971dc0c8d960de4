// tier: quick
/** Commands of the overview and the palette, without a browser. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import { liveCommands } from '../../src/console/web/keys/commands/live.ts'
import { overviewCommands } from '../../src/console/web/keys/home/overview.ts'
import { searchCommands } from '../../src/console/web/keys/home/search.ts'
import { auditLogs } from '../../src/database/schema/index.ts'
import { type Stage, sharedStage } from '../support/agent.ts'
import { type HeldStage, heldStage } from '../support/approvals.ts'
import { openEnvironment } from '../support/signed_environment.ts'
import { keysOf } from './unlocked_keys.ts'

let stage: Stage
let project: HeldStage
let at: { workspaceId: string }

beforeAll(async () => {
  stage = await sharedStage()
  project = await heldStage(stage)
  at = { workspaceId: project.project.workspaceId }
  await project.store('KEY', 'value', null)
  await stage.app.connection.db
    .insert(auditLogs)
    .values([
      refused('https://hooks.example.com:8443/x'),
      refused('https://hooks.example.com:8443/y'),
      refused(`https://${stage.authorityOf()}/z`),
      { ...refused('https://other.example.com/'), reason: 'policy_blocked' },
    ])
})
afterAll(() => stage.stop())

const refused = (targetUrl: string) => ({
  ...{ workspaceId: at.workspaceId, timestamp: new Date(), targetUrl },
  ...{ source: 'resolver' as const, identityLevel: 'agent' as const },
  ...{ agentId: 'held', method: 'GET', targetDomain: new URL(targetUrl).hostname },
  ...{ credentialRef: 'KEY', decision: 'blocked' as const, reason: 'domain_blocked' },
})

test('an owner sees what needs a person', async () => {
  const overview = await overviewCommands.read(keysOf(project.project.owner), at)
  const { tokens, credentials, missing, invitations, rekey } = overview
  expect([tokens, credentials, missing, invitations]).toEqual(
    Array(4).fill({ data: [], why: null }),
  )
  expect(rekey).toEqual({ data: false, why: null })
})

test('refused hosts are grouped by host and agent, without allowed ones', async () => {
  const hosts = await liveCommands.refused(keysOf(project.project.owner), at)
  expect(hosts.map(({ host, agent, calls, secrets }) => [host, agent, calls, secrets])).toEqual([
    ['hooks.example.com:8443', 'held', 2, ['KEY']],
  ])
})

test('the last day has calls, hours, changes and the verified history', async () => {
  const { calls, hours, changes, history } = await overviewCommands.read(
    keysOf(project.project.owner),
    at,
  )
  expect(calls.data?.totals.blocked).toBe(4)
  expect(hours.data).toHaveLength(24)
  const actions = changes.data?.map(({ action }) => action) ?? []
  expect(actions).toContain('secret.created')
  expect(actions).not.toContain(null)
  expect(history.data?.members).toBe(1)
  expect(history.data?.links).toBeGreaterThan(1)
})

test('a role that cannot manage tokens does not ask for them, and the other parts are shown', async () => {
  const member = await project.project.join('member')
  const { tokens, missing, calls } = await overviewCommands.read(keysOf(member), at)
  expect(tokens).toEqual({ data: [], why: null })
  expect(missing.why).toBeNull()
  expect(calls.why).toBeNull()
})

test('a missing name is a name that an environment with other secrets lacks', async () => {
  const place = openEnvironment(project.project, project.project.owner, 'staging')
  await uploadSecrets(place, [{ key: 'OTHER', value: 'value', policy: null }], true)
  const { missing } = await overviewCommands.read(keysOf(project.project.owner), at)
  const { projectId } = project.project
  expect(missing.data).toEqual([{ projectId, project: 'api', count: 2, names: ['KEY', 'OTHER'] }])
})

test('the palette gets the names of secrets, agents, hosts and people', async () => {
  const { secrets, agents, hosts, people } = await searchCommands.things(
    keysOf(project.project.owner),
    at,
  )
  expect(secrets.data?.map(({ key, project: name }) => [name, key])).toEqual([
    ['api', 'KEY'],
    ['api', 'OTHER'],
  ])
  expect(agents.data?.map(({ name }) => name)).toEqual(['held'])
  expect(hosts.data).toEqual([stage.authorityOf()])
  expect(people.data?.map(({ email }) => email)).toContain(project.project.owner.email)
})
