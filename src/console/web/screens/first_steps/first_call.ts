/** What the first call may look like: for some APIs by the name of their secret, else as most take a key. */
type Known = { name: RegExp; host: string; path: string; header?: string; value?: string }

const KNOWN: readonly Known[] = [
  { name: /^(GITHUB|GH)_/, host: 'api.github.com', path: '/user' },
  { name: /^OPENAI_/, host: 'api.openai.com', path: '/v1/models' },
  { name: /^STRIPE_/, host: 'api.stripe.com', path: '/v1/balance' },
  {
    name: /^ANTHROPIC_/,
    host: 'api.anthropic.com',
    path: '/v1/models',
    header: 'x-api-key',
    value: '',
  },
]

function knownBy(secret: string): Known | undefined {
  return KNOWN.find(({ name }) => name.test(secret))
}

export function hostFor(secret: string): string {
  return knownBy(secret)?.host ?? ''
}

/** At a host as the allowlist writes it. */
export function urlFor(secret: string, domain: string): string {
  const known = knownBy(secret)
  const host = domain.replace(/^\*\./, 'api.')
  return `https://${host}${known?.host === domain ? known.path : '/'}`
}

/** For a shell that holds the token in SERVICE_TOKEN. No argument has it: other processes can read those. */
export function curlFor(resolver: string, secret: string, url: string): string {
  const { header = 'Authorization', value = 'Bearer ' } = knownBy(secret) ?? {}
  const call = { target_url: url, headers: { [header]: `${value}SVC_SECRET_${secret}` } }
  return [
    `printf 'header = "Authorization: Bearer %s"\\n' "$SERVICE_TOKEN" |`,
    `  curl --config - -sS ${quoted(`${resolver}/v1/resolve`)} \\`,
    "    -H 'Content-Type: application/json' \\",
    `    -d ${quoted(JSON.stringify(call))}`,
  ].join('\n')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
