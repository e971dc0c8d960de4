/**
 * Examples for the documentation, made from schemas: what a field is called decides what stands in
 * it, so that a new endpoint has sensible examples without a word. A test parses each example by its
 * contract; where a made one is poor, the schema carries its own (`.meta({ examples: […] })`).
 */
import type { JsonSchema } from './json_schema.ts'

const id = (last: number) => `018f3c5e-7d2a-7c31-9b0e-${String(last).padStart(12, '0')}`
/** Canonical base64 of so many bytes. */
const encoded = (...parts: (number | { of: number })[]) =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === 'number' ? [part] : Array(part.of).fill(0x5a))),
  ).toBase64()
/** The forms of docs/protocol.md, section 3: a wrapped private key, an envelope, a secret value. */
const wrappedKey = encoded(1, { of: 60 })
const envelope = encoded(1, { of: 80 })
const sealedValue = encoded(1, 0, 0, 0, 1, { of: 40 })
const token = (kind: string) => `svc_${kind}_${'0'.repeat(60)}EXAMPLEtoken`

/** By the name of the field; taken only where the schema admits it. */
const byName: Record<string, unknown> = {
  access: token('ses'),
  agent_id: 'deploy-bot',
  allowed_domains: 'api.stripe.com',
  allowed_headers: 'Authorization',
  allowed_locations: 'header',
  allowed_methods: 'POST',
  allowed_paths: '/v1/charges',
  body: '{"amount":2000,"currency":"eur"}',
  credential_ref: 'STRIPE_API_KEY',
  current_password: 'cHJldmlvdXMtYXV0aC1rZXktb2YtdGhlLWNsaWVudA',
  cursor: 'bmV4dC1wYWdlLXN0YXJ0cy1oZXJl',
  description: 'Payments and invoices',
  domain: 'api.stripe.com',
  domains: 'api.stripe.com',
  email: 'ada@example.com',
  encrypted_private_key: wrappedKey,
  encrypted_workspace_key: envelope,
  envelope,
  environment: 'production',
  environments: 'production',
  expires_in_days: 90,
  fingerprint: '3f9a 1c07 5be2 88d4 61aa 09c3 7e15 f2b8',
  first_name: 'Ada',
  from: 'development',
  headers: 'Bearer SVC_SECRET_STRIPE_API_KEY',
  in_both: 'DATABASE_URL',
  in_from_only: 'DEBUG_TOKEN',
  in_to_only: 'STRIPE_API_KEY',
  iterations: 3,
  key: 'STRIPE_API_KEY',
  key_salt: encoded({ of: 16 }),
  label: 'ci',
  last_name: 'Lovelace',
  limit: 100,
  log_id: id(7),
  member: 'ada@example.com',
  members: 'ada@example.com',
  memory_kib: 65_536,
  method: 'POST',
  missing: 'staging',
  name: 'billing',
  new_password: 'ZGVyaXZlZC1mcm9tLXRoZS1uZXctcGFzc3dvcmQ',
  parallelism: 4,
  password: 'ZGVyaXZlZC1mcm9tLXRoZS1wYXNzd29yZA',
  policy: { allowed_domains: ['api.stripe.com'], allowed_methods: ['POST'] },
  project: 'billing',
  project_id: id(2),
  project_name: 'billing',
  public_key: encoded({ of: 32 }),
  recovery_verifier: 'dmVyaWZpZXItb2YtdGhlLW9sZC1yZWNvdmVyeS1rZXk',
  refresh: token('ref'),
  refresh_token: token('ref'),
  registration_id: id(4),
  resource: 'secret',
  role: 'member',
  secrets: sealedValue,
  session_id: id(6),
  status_code: 200,
  target_domain: 'api.stripe.com',
  target_path: '/v1/charges',
  target_url: 'https://api.stripe.com/v1/charges',
  to: 'production',
  token: token('agt'),
  token_id: id(5),
  user_agent: 'cloakroom/0.1.0',
  user_id: id(3),
  value: sealedValue,
  verifier: encoded({ of: 32 }),
  version: 3,
  workspace_id: id(1),
  workspace_name: 'Platform',
}

/** What a free key of a record is called, by the name of the record. */
const keyOfRecord: Record<string, string> = {
  environments: 'production',
  headers: 'authorization',
  secrets: 'STRIPE_API_KEY',
  sealed: 'STRIPE_API_KEY',
}

/** Optional fields that only make sense in special cases. */
const LEFT_OUT = new Set(['body_encoding', 'client_id', 'cursor', 'sign'])

const byFormat: Record<string, unknown> = {
  uuid: id(8),
  'date-time': '2026-03-14T09:26:53.589Z',
  date: '2026-03-14',
  email: 'ada@example.com',
}

/** A value that fits the schema of the field called `name`. */
export function exampleOf(schema: JsonSchema, name = ''): unknown {
  const [own] = Array.isArray(schema.examples) ? schema.examples : []
  if (own !== undefined) return own
  const branches = branchesOf(schema)
  if (branches) return exampleOf(likeliest(branches), name)
  if (schema.type === 'object') return objectExample(schema, name)
  if (schema.type === 'array') return isEmpty(schema) ? [] : [exampleOf(child(schema.items), name)]
  return scalarExample(schema, name)
}

function scalarExample(schema: JsonSchema, name: string): unknown {
  const known = byName[name]
  if (known !== undefined && admits(schema, known)) return known
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (typeof schema.format === 'string' && schema.format in byFormat) return byFormat[schema.format]
  if (schema.default !== undefined) return schema.default
  switch (typeOf(schema)) {
    case 'string':
      return 'text'.padEnd(Number(schema.minLength ?? 0), '-')
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    default:
      return null
  }
}

function objectExample(schema: JsonSchema, name: string): unknown {
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  const fields = Object.entries(child(schema.properties))
    .filter(([field]) => required.has(field) || !LEFT_OUT.has(field))
    .map(([field, inner]) => [field, exampleOf(child(inner), field)])
  const free = child(schema.additionalProperties)
  if (Object.keys(free).length > 0) {
    fields.push([keyOfRecord[name] ?? 'name', exampleOf(free, name)])
  }
  return Object.fromEntries(fields)
}

function branchesOf(schema: JsonSchema): JsonSchema[] | null {
  const branches = schema.anyOf ?? schema.oneOf
  return Array.isArray(branches) ? branches : null
}

/** The first that is not null. */
function likeliest(branches: readonly JsonSchema[]): JsonSchema {
  return branches.find((branch) => branch.type !== 'null') ?? {}
}

function isEmpty(schema: JsonSchema): boolean {
  return schema.maxItems === 0 || 'not' in child(schema.items)
}

function child(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** The type, or the first that is not null of several. */
function typeOf({ type }: JsonSchema): unknown {
  return Array.isArray(type) ? type.find((one) => one !== 'null') : type
}

function admits(schema: JsonSchema, value: unknown): boolean {
  if ('const' in schema) return schema.const === value
  if (Array.isArray(schema.enum)) return schema.enum.includes(value)
  const type = typeOf(schema)
  if (type === undefined) return true
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type && fitsPattern(schema, value)
}

function fitsPattern({ pattern, format }: JsonSchema, value: unknown): boolean {
  if (format === 'date-time') return false
  return typeof pattern !== 'string' || new RegExp(pattern).test(String(value))
}
