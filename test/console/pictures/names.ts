/** Names that the seeded workspaces use. */

/** The longest secret name of the pictures, with 60 characters. */
export const LONG_NAME = 'SALESFORCE_CONNECTED_APP_CONSUMER_SECRET_FOR_THE_EU_INSTANCE'

const SECRETS =
  `ANTHROPIC_API_KEY AWS_ACCESS_KEY_ID AWS_REGION AWS_SECRET_ACCESS_KEY CLOUDFLARE_API_TOKEN
  CLOUDFLARE_ZONE_ID DATABASE_POOL_SIZE DATABASE_URL DATADOG_API_KEY DATADOG_APP_KEY DISCORD_WEBHOOK_URL
  ELASTIC_API_KEY ELASTIC_URL FEATURE_FLAGS_KEY GITHUB_APP_ID GITHUB_APP_PRIVATE_KEY GITHUB_TOKEN
  GOOGLE_CLIENT_ID GOOGLE_CLIENT_SECRET GOOGLE_DRIVE HUBSPOT_TOKEN INTERCOM_TOKEN JWT_SIGNING_KEY
  KAFKA_BROKERS KAFKA_PASSWORD LINEAR_API_KEY LOG_LEVEL MAILGUN_API_KEY MAPBOX_TOKEN MIXPANEL_TOKEN
  MONGO_URL NOTION_TOKEN NPM_TOKEN OPENAI_API_KEY OPENAI_ORGANIZATION PAGERDUTY_KEY PLAID_CLIENT_ID
  PLAID_SECRET POSTHOG_KEY POSTMARK_TOKEN REDIS_URL SEGMENT_WRITE_KEY SENDGRID_API_KEY SENTRY_AUTH_TOKEN
  SENTRY_DSN SESSION_SECRET SHOPIFY_TOKEN SLACK_BOT_TOKEN SLACK_SIGNING_SECRET SNOWFLAKE_PASSWORD
  STRIPE_KEY STRIPE_REFUND_KEY STRIPE_WEBHOOK_SECRET SUPABASE_KEY TWILIO_ACCOUNT_SID TWILIO_AUTH_TOKEN
  VERCEL_TOKEN WEBHOOK_URL ZENDESK_TOKEN`.split(/\s+/)

/** Returns `count` secret names: known names first, including a long one. */
export function listSecretNames(count: number): string[] {
  const known = [...SECRETS.slice(0, 30), LONG_NAME, ...SECRETS.slice(30)]
  const more = Array.from({ length: Math.max(0, count - known.length) }, (_, index) => {
    const tenant = String(1 + Math.floor(index / 4)).padStart(3, '0')
    return `TENANT_${tenant}_${['API_KEY', 'DATABASE_URL', 'SIGNING_KEY', 'WEBHOOK_SECRET'][index % 4]}`
  })
  // A workspace with one secret has the Stripe key, which its calls use.
  return count === 1 ? ['STRIPE_KEY'] : [...known, ...more].slice(0, count)
}

const AGENTS = ['claude-code', 'deploy-bot', 'ci-release']
const TASKS = [
  'invoices',
  'support',
  'search',
  'backup',
  'billing',
  'docs',
  'triage',
  'reports',
  'sync',
]

export function listAgentNames(count: number): string[] {
  const more = ['bot', 'worker', 'agent'].flatMap((kind) => TASKS.map((task) => `${task}-${kind}`))
  return [...AGENTS, ...more].slice(0, count)
}

/** Members besides Ada, with their roles. */
export const COLLEAGUES = [
  ['grace.hopper', 'admin'],
  ['alan.turing', 'member'],
  ['barbara.liskov', 'member'],
  ['edsger.dijkstra', 'read_only'],
] as const

/** People with an invitation that they have not accepted. */
export const INVITED = ['donald.knuth', 'margaret.hamilton'] as const
