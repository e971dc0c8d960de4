/** Acme, the workspace in the pictures: its people, secrets and agents, created by the client as on other machines. */
import { allowHosts } from '../../../src/client/actions/allowlist.ts'
import { registerWithToken } from '../../../src/client/actions/issue_token.ts'
import { invitePeople, readPerson } from '../../../src/client/actions/members.ts'
import { uploadSecrets } from '../../../src/client/actions/set_secrets.ts'
import type { Policy } from '../../../src/core/policy/policy.ts'
import { UNLIMITED } from '../../../src/core/token_limits.ts'
import { signUp } from '../accounts.ts'
import type { Account, Stage } from '../browser.ts'
import { foundWorkspace, joined, WORKSPACE } from '../elsewhere.ts'
import { COLLEAGUES, INVITED, listAgentNames, listSecretNames } from './names.ts'

const ENVIRONMENTS = ['development', 'staging', 'production'] as const
type Environment = (typeof ENVIRONMENTS)[number]

export type Company = {
  account: Account
  workspaceId: string
  projectId: string
  agents: { id: string; name: string; tokenId: string; token: string }[]
  there: Awaited<ReturnType<typeof foundWorkspace>>['there']
}

/** @param domain of everyone's address: each address has one account on a server */
export async function foundCompany({ app }: Stage, domain: string): Promise<Company> {
  const email = `ada.lovelace@${domain}`
  const { account, there, projectId } = await foundWorkspace(app.controlPlane, email, 'payments')
  return { account, there, projectId, workspaceId: there.workspace.id, agents: [] }
}

const HELD: Policy = { approval: { by: 'member', ttl_seconds: 900 } }
const POLICIES: Record<string, Policy> = {
  STRIPE_KEY: { allowed_domains: ['api.stripe.com'], allowed_methods: ['GET', 'POST'] },
  GITHUB_TOKEN: {
    allowed_domains: ['api.github.com'],
    allowed_methods: ['GET'],
    allowed_paths: ['/repos/acme/'],
    allowed_locations: ['header'],
  },
  STRIPE_REFUND_KEY: HELD,
  GOOGLE_DRIVE: { kind: 'oauth2', allowed_domains: ['www.googleapis.com'] },
  LOG_LEVEL: { sensitive: false },
  WEBHOOK_URL: { sensitive: false },
}

const OAUTH_ROOT = JSON.stringify({
  token_url: 'https://oauth2.googleapis.com/token',
  client_id: 'acme.apps.googleusercontent.com',
  client_secret: 'not-a-real-client-secret',
  refresh_token: 'not-a-real-refresh-token',
})

/** The value at a place, or undefined where the secret is missing: a third of the rows is the same, some lack one. */
function valueAt(key: string, index: number, environment: Environment): string | undefined {
  const isMissing =
    (index % 8 === 3 && environment === 'staging') ||
    (index % 6 === 4 && environment === 'production')
  if (isMissing && POLICIES[key] === undefined) return undefined
  if (key === 'GOOGLE_DRIVE') return OAUTH_ROOT
  const own = index % 3 === 2 ? 'everywhere' : environment
  return `${key.toLowerCase()}_${own}_51HxQ2eZvKYlo2C`
}

/** The first secret is stored alone and the others in one import, as the audit shows it. */
export async function storeSecrets({ app }: Stage, company: Company, count: number): Promise<void> {
  const { api, workspace } = company.there
  const names = listSecretNames(count)
  for (const environment of ENVIRONMENTS) {
    const place = { api, workspace, projectId: company.projectId, environment }
    const entries = names.flatMap((key, index) => {
      const value = valueAt(key, index, environment)
      return value === undefined ? [] : [{ key, value, policy: POLICIES[key] ?? null }]
    })
    for (const batch of [entries.slice(0, 1), entries.slice(1)])
      if (batch.length > 0) await uploadSecrets(place, batch, true)
  }
  // Between an hour and six weeks old, each name differently.
  await app.connection.sql`
    update secrets set updated_at = now() - make_interval(hours => 1 + abs(hashtext(key || environment)) % 1000)
    where workspace_id = ${workspace.id}`
}

/** Agents of the project's production. Every fourth has limits, and every fifth a token that ends this week. */
export async function employAgents(company: Company, count: number): Promise<void> {
  const { there, projectId } = company
  const places = [{ projectId, environment: 'production' }]
  for (const [index, name] of listAgentNames(count).entries()) {
    const order = {
      expires_in_days: index % 5 === 1 ? 5 : 90,
      ...(index % 4 === 1
        ? { limits: { ...UNLIMITED, calls_per_minute: 60, calls_per_day: 2_000 } }
        : {}),
    }
    const terms = { environment: 'production', order, places }
    const made = await registerWithToken(there, { name, projectId }, terms)
    company.agents.push({ id: made.agent.id, name, tokenId: made.id, token: made.text })
  }
}

const USUAL_HOSTS = [
  'api.anthropic.com',
  'api.github.com',
  'api.stripe.com',
  'oauth2.googleapis.com',
  'www.googleapis.com',
]

export async function allowUsualHosts(company: Company): Promise<void> {
  await allowHosts(company.there, USUAL_HOSTS)
}

/** Four colleagues, and two invitations that nobody has accepted. @returns the colleagues' accounts */
export async function hireColleagues({ app }: Stage, company: Company): Promise<Account[]> {
  const { there, account } = company
  const domain = account.email.split('@')[1]
  const server = app.controlPlane
  const colleagues: Account[] = []
  for (const [name, role] of COLLEAGUES) {
    const email = `${name}@${domain}`
    colleagues.push({ email, ...(await signUp(server, email)) })
    await joined(server, WORKSPACE, account.email, email, role)
  }
  for (const name of INVITED) {
    const email = `${name}@${domain}`
    await signUp(server, email)
    const person = await readPerson(there.api, email)
    if (person) await invitePeople(there, [person], 'member', new Set())
  }
  return colleagues
}
