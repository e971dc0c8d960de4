// tier: quick, both databases in test:all
/** The recent usage of secrets, agents and hosts, counted directly from the records. */
import { beforeAll, expect, test } from 'bun:test'
import { auditLogs } from '../../src/database/schema/index.ts'
import { getUsage } from '../../src/features/usage/contract.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { openTeam, type Team } from '../support/teams.ts'

const HOUR_MS = 3_600_000
const [PROJECT, AGENT] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]

let app: TestApp
let team: Team

type Stored = Partial<typeof auditLogs.$inferInsert>

const usedAt = (hoursAgo: number, fields: Stored = {}) => ({
  workspaceId: team.workspaceId,
  timestamp: new Date(Date.now() - hoursAgo * HOUR_MS),
  source: 'resolver' as const,
  identityLevel: 'agent' as const,
  agentId: 'bot',
  registrationId: AGENT,
  projectId: PROJECT,
  environment: 'production',
  method: 'GET',
  targetUrl: 'https://api.example.com/v1',
  targetDomain: 'api.example.com',
  credentialRef: 'KEY',
  decision: 'allowed' as const,
  ...fields,
})

const usage = (days?: number) =>
  team.owner.api.call(getUsage, {
    params: { workspace_id: team.workspaceId },
    query: days === undefined ? {} : { days },
  })

beforeAll(async () => {
  app = await sharedApp()
  team = await openTeam(app)
  await app.connection.db.insert(auditLogs).values([
    usedAt(0),
    usedAt(0, { decision: 'blocked', agentId: 'ci', registrationId: null }),
    usedAt(24),
    usedAt(24, { environment: 'staging', credentialRef: 'KEY,OTHER,KEY' }),
    usedAt(24, { targetUrl: 'https://api.example.com:8443/v1?x' }),
    usedAt(24, { targetUrl: null, targetDomain: null, action: 'credentials.read' }),
    usedAt(24 * 6),
    usedAt(24 * 10),
    // These are not requests.
    usedAt(0, { action: 'secret.read', source: 'control_plane' }),
    usedAt(0, { action: 'credentials.listed' }),
  ])
})

test('each secret is counted by environment, with its days, rejections and last use', async () => {
  const { days, secrets, is_whole } = await usage()
  expect(is_whole).toBe(true)
  expect(days).toHaveLength(7)
  expect(days.at(-1)).toBe(new Date().toISOString().slice(0, 10))
  expect(secrets[0]?.environment).toBe('production')
  const shown = secrets.map(({ last_used_at, ...use }) => use)
  expect(shown.sort((a, b) => (a.credential_ref < b.credential_ref ? -1 : 1))).toEqual([
    {
      ...{ project_id: PROJECT, environment: 'production', credential_ref: 'KEY' },
      ...{ calls: [1, 0, 0, 0, 0, 3, 2], blocked: [0, 0, 0, 0, 0, 0, 1] },
      last_used_by: expect.any(String),
    },
    ...['KEY', 'OTHER'].map((credential_ref) => ({
      ...{ project_id: PROJECT, environment: 'staging', credential_ref },
      ...{ calls: [0, 0, 0, 0, 0, 1, 0], blocked: [0, 0, 0, 0, 0, 0, 0] },
      last_used_by: 'bot',
    })),
  ])
})

test('agents are counted by their registration, and hosts with their port if it is not 443', async () => {
  const { agents, hosts } = await usage()
  const total = (calls: readonly number[]) => calls.reduce((sum, count) => sum + count, 0)
  const agentsShown = agents.map(({ registration_id, agent_id, calls }) => [
    ...[registration_id, agent_id, total(calls)],
  ])
  expect(new Set(agentsShown.map((row) => JSON.stringify(row)))).toEqual(
    new Set([JSON.stringify([AGENT, 'bot', 6]), JSON.stringify([null, 'ci', 1])]),
  )
  expect(Object.fromEntries(hosts.map(({ host, calls }) => [host, total(calls)]))).toEqual({
    'api.example.com': 5,
    'api.example.com:8443': 1,
  })
})

test('the requested number of days is counted, from 1 to 30', async () => {
  const callsIn = async (days: number) =>
    (await usage(days)).secrets
      .filter(({ environment }) => environment === 'production')
      .flatMap(({ calls }) => calls)
      .reduce((sum, count) => sum + count, 0)
  expect(await callsIn(1)).toBe(2)
  expect(await callsIn(30)).toBe(7)
  await expect(usage(31)).rejects.toThrow()
  await expect(usage(0)).rejects.toThrow()
})

test('the last 24 hours are listed one by one, also those without calls', async () => {
  const { hours } = await usage(1)
  expect(hours).toHaveLength(24)
  expect(hours.at(-1)).toMatchObject({ allowed: 1, blocked: 1, errors: 0 })
  const earlier = hours.slice(0, -1).map(({ allowed, blocked }) => allowed + blocked)
  expect(earlier.reduce((sum, count) => sum + count, 0)).toBe(0)
  const [first, second] = hours
  expect(Date.parse(second?.at ?? '') - Date.parse(first?.at ?? '')).toBe(HOUR_MS)
})
