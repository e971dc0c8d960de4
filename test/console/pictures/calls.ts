/** Audit records of past calls, inserted into the database as if agents had made them on earlier days. */
import type { TestApp } from '../../support/app.ts'
import type { Company } from './company.ts'

type Sql = TestApp['connection']['sql']

const DAY_MS = 86_400_000
/** Calls a day, the newest day first: weekdays differ from weekends, and no two bars are equal. */
const CALLS_BY_DAY = [138, 141, 52, 68, 131, 90, 117, 118, 105, 41, 40, 87, 75, 67]

/** Host, method, path and secret of calls, with those that were refused or failed. */
const CALLS = [
  ['api.stripe.com', 'GET', '/v1/charges/7', 'STRIPE_KEY', 200, null],
  ['api.stripe.com', 'POST', '/v1/charges', 'STRIPE_KEY', 200, null],
  ['api.github.com', 'GET', '/repos/acme/api/pulls/418/files', 'GITHUB_TOKEN', 200, null],
  ['api.stripe.com', 'GET', '/v1/customers?limit=20', 'STRIPE_KEY', 200, null],
  ['api.github.com', 'GET', '/repos/acme/web/issues', 'GITHUB_TOKEN', 200, null],
  ['api.anthropic.com', 'POST', '/v1/messages', 'ANTHROPIC_API_KEY', 200, null],
  ['api.stripe.com', 'GET', '/v1/balance', 'STRIPE_KEY', 200, null],
] as const
const REFUSED = [
  ['hooks.slack.com', 'POST', '/services/T000/B000', 'SLACK_BOT_TOKEN', 403, 'domain_blocked'],
  ['api.openai.com', 'POST', '/v1/chat/completions', 'OPENAI_API_KEY', 403, 'domain_blocked'],
] as const
const FAILED = ['api.stripe.com', 'GET', '/v1/x', 'STRIPE_KEY', 504, 'upstream_timeout'] as const

/** Every 33rd call is refused and every 47th fails. */
function pickCall(index: number) {
  if (index % 33 === 5) return REFUSED[index % REFUSED.length] ?? REFUSED[0]
  if (index % 47 === 11) return FAILED
  return CALLS[index % CALLS.length] ?? CALLS[0]
}

type Past = Pick<Company, 'workspaceId' | 'projectId' | 'agents'>

/** One record as the table of the audit has it. */
function recordCall({ agents }: Past, index: number, at: number, url?: string) {
  const [host, method, path, secret, status, reason] = pickCall(index)
  const agent = agents[index % agents.length] ?? agents[0]
  if (!agent) throw new Error('only a workspace with agents has calls')
  const target = new URL(url ?? `https://${host}${path}`)
  return {
    id: idAt(at),
    ...{
      at: new Date(at).toISOString(),
      agent: agent.name,
      registration: agent.id,
      token: agent.tokenId,
    },
    ...{
      method,
      url: target.href,
      path: target.pathname,
      host: target.hostname,
      secret,
      status,
      reason,
    },
    decision: reason === null ? 'allowed' : reason === 'domain_blocked' ? 'blocked' : 'error',
    duration: 18 + ((index * 7) % 40),
  }
}

/** A UUIDv7 of a past moment: live requests are listed in the order of their IDs. */
function idAt(at: number): string {
  const time = Math.floor(at).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`
}

/** Inserts calls over so many days up to a moment ago. */
export async function insertCalls(sql: Sql, company: Past, days: number): Promise<void> {
  const now = Date.now()
  const records = CALLS_BY_DAY.slice(0, days).flatMap((count, day) =>
    Array.from({ length: count }, (_, index) => {
      // The newest hour has a third of the newest day's calls, so that figures of the last hour are not empty.
      const span = day === 0 && index % 3 === 0 ? 3_500_000 : 8 * 3_600_000
      return recordCall(company, index + day, now - day * DAY_MS - 20_000 - (span * index) / count)
    }),
  )
  await insertRecords(sql, company, records)
}

/** Inserts one call to a URL, made a moment ago. */
export async function insertCallTo(sql: Sql, company: Past, url: string): Promise<void> {
  await insertRecords(sql, company, [recordCall(company, 0, Date.now() - 1_000, url)])
}

async function insertRecords(
  sql: Sql,
  { workspaceId, projectId }: Past,
  records: readonly ReturnType<typeof recordCall>[],
): Promise<void> {
  await sql`
    insert into audit_logs (id, workspace_id, timestamp, recorded_at, source, identity_level, agent_id,
      registration_id, token_id, project_id, environment, method, target_url, target_path, target_domain,
      credential_ref, injection_style, decision, reason, status_code, duration_ms, redacted)
    select id, ${workspaceId}, at, at, 'resolver', 'agent', agent, registration, token,
      ${projectId}, 'production', method, url, path, host, secret, 'header', decision, reason, status,
      duration, false
    from json_to_recordset(${JSON.stringify(records)}::text::json) as calls(id uuid, at timestamptz, agent text,
      registration uuid, token uuid, method text, url text, path text, host text, secret text,
      decision text, reason text, status int, duration int)`
}
