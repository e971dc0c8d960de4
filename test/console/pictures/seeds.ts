/** The states of Acme that the pictures show. Each is created once, when the first picture needs it. */
import { createProposal } from '../../../src/features/proposals/contract.ts'
import { resolveAs } from '../../support/agent.ts'
import { UNLIMITED } from '../../support/app.ts'
import type { Account } from '../browser.ts'
import { HOST, openReachableStage } from '../reachable.ts'
import { insertCalls } from './calls.ts'
import {
  allowUsualHosts,
  type Company,
  employAgents,
  foundCompany,
  hireColleagues,
  storeSecrets,
} from './company.ts'

export type Seed = Company & { colleagues: Account[] }
export type SeedName = 'empty' | 'waiting' | 'calling' | 'small' | 'team' | 'large' | 'broken'

export type World = Awaited<ReturnType<typeof openReachableStage>> & {
  /** `host:port` of an API that answers. */
  answering: string
  seedOf(name: SeedName): Promise<Seed>
}

/** One server with every setting that a picture needs. */
export async function openWorld(): Promise<World> {
  const reachable = await openReachableStage((origin) => ({
    ...UNLIMITED,
    PASSKEY_ORIGINS: origin,
    // Names must resolve before a call can wait for approval. Nothing listens there.
    RESOLVER_HOSTS: `${HOST}=127.0.0.1,api.stripe.com=127.0.0.1,www.googleapis.com=127.0.0.1`,
  }))
  const seeded = new Map<SeedName, Promise<Seed>>()
  const world: World = {
    ...reachable,
    answering: `${HOST}:${reachable.upstream.port}`,
    seedOf: (name) => {
      const seed = seeded.get(name) ?? seeds[name](world, `${name}.example`)
      seeded.set(name, seed)
      return seed
    },
  }
  // The first account owns the installation, so the pictures include the Instance screen.
  await world.seedOf('team')
  return world
}

type Parts = { secrets: number; agents: number; days: number }

async function seedCompany({ stage }: World, domain: string, parts: Parts): Promise<Seed> {
  const company = await foundCompany(stage, domain)
  const { sql } = stage.app.connection
  if (parts.secrets > 0) await storeSecrets(stage, company, parts.secrets)
  await employAgents(company, parts.agents)
  if (parts.agents > 0) await allowUsualHosts(company)
  if (parts.days > 0) await insertCalls(sql, company, parts.days)
  return { ...company, colleagues: [] }
}

/** A project and nothing in it: no secrets, agents, calls or audit records. */
async function seedNothing(world: World, domain: string): Promise<Seed> {
  const seed = await seedCompany(world, domain, { secrets: 0, agents: 0, days: 0 })
  const { sql } = world.stage.app.connection
  await sql`delete from audit_logs where workspace_id = ${seed.workspaceId}`
  return seed
}

const seeds: Record<SeedName, (world: World, domain: string) => Promise<Seed>> = {
  empty: seedNothing,
  /** Gets a secret and a token in the picture of the first run that waits. */
  waiting: seedNothing,
  /** Makes its first call. */
  calling: seedNothing,
  /** One secret, one agent and one day of calls. */
  small: (world: World, domain: string) =>
    seedCompany(world, domain, { secrets: 1, agents: 1, days: 1 }),
  /** 60 secrets, three agents, 14 days, five members, and something waiting of every kind. */
  team: async (world: World, domain: string) => {
    const seed = await seedCompany(world, domain, { secrets: 60, agents: 3, days: 14 })
    const colleagues = await hireColleagues(world.stage, seed)
    await requireReconnect(world, seed)
    await leaveWaiting(world, seed)
    return { ...seed, colleagues }
  },
  /** 1,000 secrets and 30 agents. */
  large: (world: World, domain: string) =>
    seedCompany(world, domain, { secrets: 1_000, agents: 30, days: 14 }),
  /** A history in which the server changed a signed link. */
  broken: async (world: World, domain: string) => {
    const seed = await seedCompany(world, domain, { secrets: 1, agents: 1, days: 0 })
    const { sql } = world.stage.app.connection
    await sql`update workspace_links set statement = replace(statement, 'api.stripe.com', 'api.stripe.evil')
      where workspace_id = ${seed.workspaceId}`
    return seed
  },
}

/** The provider refused to renew the connection of a secret. */
async function requireReconnect({ stage }: World, { workspaceId, projectId }: Company) {
  await stage.app.connection
    .sql`insert into derived_states (workspace_id, project_id, environment, key, generation, failed_at,
      failed_code, failures, is_final)
    values (${workspaceId}, ${projectId}, 'production', 'GOOGLE_DRIVE', 1, now() - interval '2 hours',
      'invalid_grant', 1, true)`
}

/** Calls that were refused, a call that needs approval, and a proposal. */
async function leaveWaiting(world: World, seed: Company): Promise<void> {
  for (let calls = 0; calls < 4; calls += 1)
    await callAs(
      world,
      seed,
      'deploy-bot',
      'https://hooks.slack.com/services/T000/B000',
      'SLACK_BOT_TOKEN',
    )
  await callAs(
    world,
    seed,
    'claude-code',
    'https://api.openai.com/v1/chat/completions',
    'OPENAI_API_KEY',
  )
  await callAs(world, seed, 'deploy-bot', 'https://api.stripe.com/v1/refunds', 'STRIPE_REFUND_KEY')
  await fetch(`${world.stage.app.resolver}${createProposal.path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokenOf(seed, 'ci-release')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      reason: 'Releases are announced in Discord',
      hosts: ['discord.com'],
      secrets: [{ key: 'DISCORD_RELEASE_WEBHOOK', description: 'The webhook of #releases' }],
    }),
  })
}

function tokenOf({ agents }: Company, name: string): string {
  const agent = agents.find((each) => each.name === name)
  if (!agent) throw new Error(`Acme has no agent ${name}`)
  return agent.token
}

/** One call of an agent. @returns what the agent got back */
export function callAs(
  { stage }: World,
  seed: Company,
  agent: string,
  url: string,
  secret: string,
) {
  return resolveAs(stage.app.resolver, tokenOf(seed, agent), {
    target_url: url,
    method: 'POST',
    headers: { authorization: `Bearer SVC_SECRET_${secret}`, 'content-type': 'application/json' },
    body: '{"amount":4200,"charge":"ch_3Px1y2eZvKYlo2C"}',
    reason: 'The customer asked for a refund',
  })
}
