/** Policies in words, for people: `only POST to api.stripe.com/v1/*, in a header`. */
import { type Policy, policy as policySchema, readApprover } from '../../core/policy/policy.ts'

type Location = NonNullable<Policy['allowed_locations']>[number]

const PLACES: Record<Location, string> = {
  header: 'a header',
  basic: 'basic authentication',
  query: 'the query',
  path: 'the path',
  json: 'a JSON body',
  form: 'a form',
  websocket: 'messages of a WebSocket',
  env: 'environment variables',
  sign: 'signatures',
}

/** Empty for a policy without restrictions. The server may send an invalid policy. */
export function policyInWords(shown: unknown): string {
  const { data: policy, success } = policySchema.safeParse(shown ?? null)
  if (!success) return 'not a policy'
  if (policy === null) return ''
  const references = policy.references ? 'with references' : ''
  const derived = policy.kind ? `renewed automatically (${policy.kind})` : ''
  const basic = policy.basic_encoding ? 'form-encoded in basic authentication' : ''
  const reads = policy.read_only ? 'only for reads' : ''
  const operations = operationsOf(policy)
  return [
    callsOf(policy),
    reads,
    operations,
    placesOf(policy),
    signedOf(policy),
    basic,
    references,
    derived,
    approvalInWords(policy),
  ]
    .filter(Boolean)
    .join(', ')
}

/** `each use approved by a member`; undefined where uses need no approval. */
export function approvalInWords(policy: Policy | null): string | undefined {
  const by = readApprover(policy)
  if (by === null) return undefined
  const approver = by === 'admin' ? 'an admin' : 'a member'
  const seconds = policy?.approval?.ttl_seconds ?? 0
  const end = seconds > 0 ? `, for ${lengthInWords(seconds)} at most` : ''
  return `each use approved by ${approver}${end}`
}

/** `15m`, in the largest unit that has no rest. */
function lengthInWords(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
  ] as const
  const [unit, size] = units.find(([, size]) => seconds % size === 0) ?? ['s', 1]
  return `${seconds / size}${unit}`
}

function callsOf(policy: Policy): string {
  const { allowed_domains: domains, allowed_methods: methods, allowed_paths: paths } = policy
  const lists = Object.entries({ domains, methods, paths })
  const empty = lists.flatMap(([name, list]) => (list?.length === 0 ? [name] : []))
  if (empty.length > 0) return `in no call (no ${empty.join(', no ')})`
  const parts = [
    methods && joinWords(methods),
    targetOf(domains, paths?.map(describePrefix)),
  ].filter(Boolean)
  return parts.length > 0 ? `only ${parts.join(' ')}` : ''
}

function operationsOf({ allowed_operations: operations }: Policy): string {
  if (!operations) return ''
  return operations.length > 0 ? `only for ${joinWords(operations)}` : 'for no operation'
}

function targetOf(domains: Policy['allowed_domains'], paths: Policy['allowed_paths']): string {
  if (!domains) return paths ? `on ${joinWords(paths)}` : ''
  if (!paths) return `to ${joinWords(domains)}`
  const [domain, ...others] = domains
  if (others.length === 0) return `to ${joinWords(paths.map((path) => `${domain}${path}`))}`
  return `to ${joinWords(domains)}, on ${joinWords(paths)}`
}

/** The prefix `/v1` covers itself and what is below it. */
function describePrefix(prefix: string): string {
  return prefix.endsWith('/') ? `${prefix}*` : `${prefix}/*`
}

function placesOf({ allowed_locations: locations, allowed_headers: headers }: Policy): string {
  if (!locations) return headersOf(headers)
  const places = locations.flatMap((location) => {
    if (location !== 'header' || !headers) return PLACES[location]
    return headers.length > 0 ? `the header ${joinWords(headers)}` : []
  })
  return places.length > 0 ? `in ${joinWords(places)}` : 'in no place'
}

function headersOf(headers: Policy['allowed_headers']): string {
  if (!headers) return ''
  return headers.length > 0 ? `of headers only in ${joinWords(headers)}` : 'in no header'
}

/** As JSON, because templates may have line breaks. */
function signedOf({ sign_templates: templates }: Policy): string {
  if (!templates) return ''
  const quoted = templates.map((template) => JSON.stringify(template))
  return quoted.length > 0 ? `signing only ${joinWords(quoted)}` : 'signing nothing'
}

function joinWords(words: readonly string[]): string {
  const [last = '', ...others] = [...words].reverse()
  return others.length > 0 ? `${others.reverse().join(', ')} or ${last}` : last
}
