/** APIs that are recognised by how their keys begin, or by the name of a secret. */
export type KeyProvider = {
  title: string
  /** The longest one that fits wins. */
  prefixes: readonly string[]
  /** The usual name of the secret. */
  key: string
  names: RegExp
  host: string
  /** Reads something that every key may read. */
  path: string
  header?: string
  /** Before the key in the header. */
  scheme?: string
}

const providers: readonly KeyProvider[] = [
  {
    ...{ title: 'GitHub', prefixes: ['ghp_', 'github_pat_', 'gho_', 'ghs_'], key: 'GITHUB_TOKEN' },
    ...{ names: /^(GITHUB|GH)_/, host: 'api.github.com', path: '/user' },
  },
  {
    ...{ title: 'Anthropic', prefixes: ['sk-ant-'], key: 'ANTHROPIC_API_KEY' },
    ...{ names: /^ANTHROPIC_/, host: 'api.anthropic.com', path: '/v1/models' },
    ...{ header: 'x-api-key', scheme: '' },
  },
  {
    ...{ title: 'OpenRouter', prefixes: ['sk-or-v1-'], key: 'OPENROUTER_API_KEY' },
    ...{ names: /^OPENROUTER_/, host: 'openrouter.ai', path: '/api/v1/key' },
  },
  {
    ...{ title: 'OpenAI', prefixes: ['sk-proj-', 'sk-svcacct-', 'sk-'], key: 'OPENAI_API_KEY' },
    ...{ names: /^OPENAI_/, host: 'api.openai.com', path: '/v1/models' },
  },
  {
    ...{ title: 'Stripe', prefixes: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'] },
    ...{ key: 'STRIPE_KEY', names: /^STRIPE_/, host: 'api.stripe.com', path: '/v1/balance' },
  },
  {
    ...{ title: 'Slack', prefixes: ['xoxb-', 'xoxp-'], key: 'SLACK_BOT_TOKEN' },
    ...{ names: /^SLACK_/, host: 'slack.com', path: '/api/auth.test' },
  },
  {
    ...{ title: 'GitLab', prefixes: ['glpat-'], key: 'GITLAB_TOKEN' },
    ...{ names: /^GITLAB_/, host: 'gitlab.com', path: '/api/v4/user' },
  },
  {
    ...{ title: 'Hugging Face', prefixes: ['hf_'], key: 'HF_TOKEN' },
    ...{ names: /^(HF|HUGGINGFACE)_/, host: 'huggingface.co', path: '/api/whoami-v2' },
  },
  {
    ...{ title: 'SendGrid', prefixes: ['SG.'], key: 'SENDGRID_API_KEY' },
    ...{ names: /^SENDGRID_/, host: 'api.sendgrid.com', path: '/v3/scopes' },
  },
  {
    ...{ title: 'Linear', prefixes: ['lin_api_'], key: 'LINEAR_API_KEY', scheme: '' },
    ...{ names: /^LINEAR_/, host: 'api.linear.app', path: '/graphql' },
  },
]

export function providerOfKey(value: string): KeyProvider | undefined {
  const findPrefixLength = (prefixes: readonly string[]) =>
    Math.max(
      0,
      ...prefixes.filter((prefix) => value.startsWith(prefix)).map(({ length }) => length),
    )
  const ranked = providers
    .map((provider) => ({ provider, length: findPrefixLength(provider.prefixes) }))
    .filter(({ length }) => length > 0)
    .sort((one, other) => other.length - one.length)
  return ranked[0]?.provider
}

export function providerOfName(secret: string): KeyProvider | undefined {
  return providers.find(({ names }) => names.test(secret))
}

/** The first call at a host, as the allowlist has it. */
export function urlFor(secret: string, domain: string): string {
  const provider = providerOfName(secret)
  const host = domain.replace(/^\*\./, 'api.')
  return `https://${host}${provider?.host === domain ? provider.path : '/'}`
}
