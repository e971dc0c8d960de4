/** The fields of roots, in the names of protocol 13.1. Runs in browsers too. */
import { z } from 'zod'
import type { DerivedKind } from '../core/policy/policy.ts'
import { line } from '../core/validation/validate.ts'
import { ACCESS_KEY_ID, CREDENTIAL, REFRESH_TOKEN } from './credential.ts'
import { readJsonObject } from './json.ts'

const MAX_TEXT = 16_384
const MAX_URL = 2_048
const MAX_PARAMETERS = 16
const MAX_REPOSITORIES = 500
const MAX_PERMISSIONS = 100

/** PKCS#8, PKCS#1 or SEC 1. Only a server checks the key itself, because browsers cannot read all three. */
const PEM =
  /^\s*-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----\r?\n[A-Za-z0-9+/=\r\n]+-----END \1-----\s*$/
const PARAMETER = /^[\x21-\x7e]{1,128}$/
const EXTERNAL_ID = /^[\w+=,.@:/-]{2,1224}$/
const ROLE_ARN = /^arn:[a-z0-9-]{1,32}:iam::\d{12}:role\/[\x21-\x7e]{1,1024}$/
const MAX_SESSION_POLICY = 2_048

/** An absolute https URL that every client reads the same way. */
function readHttpsUrl(text: string): URL | null {
  if (!/^https:\/\/[\x21-\x7e]+$/.test(text) || /[\\#]/.test(text)) return null
  const url = URL.parse(text)
  return url && url.username === '' && url.password === '' ? url : null
}

const endpoint = z
  .string()
  .max(MAX_URL)
  .refine((text) => readHttpsUrl(text), 'must be an https URL without user information or fragment')
/** The base of other URLs, or an endpoint that is signed. */
const baseUrl = endpoint.refine((text) => !text.includes('?'), 'must not have a query')
const privateKey = z
  .string()
  .max(MAX_TEXT)
  .refine((text) => PEM.test(text), 'must be a private key in PEM without a passphrase')
/** GitHub writes these IDs as numbers. */
const numericId = z
  .union([z.int().min(1), z.string().regex(/^[1-9]\d{0,19}$/)], 'must be a positive integer')
  .transform(String)
const parameters = z
  .record(
    z.string().regex(PARAMETER, 'must have names of 1 to 128 visible ASCII characters'),
    z
      .string()
      .min(1)
      .max(MAX_TEXT)
      .refine((text) => text.isWellFormed(), 'must be text'),
  )
  .refine(
    (entries) => Object.keys(entries).length <= MAX_PARAMETERS,
    `must have at most ${MAX_PARAMETERS} entries`,
  )

const clientAuth = ['basic', 'post', 'private_key_jwt', 'none'] as const
export type ClientAuth = (typeof clientAuth)[number]

const oauth2Fields = z.strictObject({
  token_url: endpoint,
  client_id: line(MAX_URL),
  client_secret: line(MAX_TEXT).optional(),
  client_auth: z.enum(clientAuth).optional(),
  private_key: privateKey.optional(),
  key_id: line(256).optional(),
  assertion_audience: line(MAX_URL).optional(),
  refresh_token: z
    .string()
    .regex(REFRESH_TOKEN, 'must have 1 to 16,384 visible ASCII characters')
    .optional(),
  scope: line(8_192).optional(),
  resource: z
    .string()
    .max(MAX_URL)
    .refine((text) => /^[\x21-\x7e]+$/.test(text) && !text.includes('#') && URL.canParse(text), {
      message: 'must be an absolute URI without a fragment',
    })
    .optional(),
  audience: line(MAX_URL).optional(),
  parameters: parameters.optional(),
})

/** Parameters that other fields or the client's authentication make. */
const TAKEN = [
  ...Object.keys(oauth2Fields.shape),
  'client_assertion',
  'client_assertion_type',
  'code',
  'code_verifier',
]

export function chooseDefaultClientAuth(clientSecret: string | undefined): ClientAuth {
  return clientSecret === undefined ? 'none' : 'basic'
}

type OAuth2Fields = z.output<typeof oauth2Fields>
type Objection = [field: keyof OAuth2Fields, message: string]

function* objectionsToClient(root: OAuth2Fields): Generator<Objection> {
  const auth = root.client_auth ?? chooseDefaultClientAuth(root.client_secret)
  const needsSecret = auth === 'basic' || auth === 'post'
  const needsKey = auth === 'private_key_jwt'
  if (needsSecret !== (root.client_secret !== undefined)) {
    yield ['client_secret', `${needsSecret ? 'is required' : 'is not used'} with ${auth}`]
  }
  if (needsKey && root.private_key === undefined) yield ['private_key', `is required with ${auth}`]
  for (const field of ['private_key', 'key_id', 'assertion_audience'] as const) {
    if (!needsKey && root[field] !== undefined) yield [field, `is not used with ${auth}`]
  }
}

function* objectionsToParameters(root: OAuth2Fields): Generator<Objection> {
  const names = Object.keys(root.parameters ?? {})
  if (names.some((name) => TAKEN.includes(name))) {
    yield ['parameters', 'must not have a name that the request sets itself']
  }
  if (names.includes('grant_type') && root.refresh_token !== undefined) {
    yield ['parameters', 'must not have grant_type beside refresh_token']
  }
}

const oauth2 = oauth2Fields.superRefine((root, context) => {
  for (const [field, message] of [...objectionsToClient(root), ...objectionsToParameters(root)]) {
    context.addIssue({ code: 'custom', path: [field], message })
  }
})

const githubApp = z
  .strictObject({
    client_id: line(256).optional(),
    app_id: numericId.optional(),
    private_key: privateKey,
    installation_id: numericId,
    api_url: baseUrl.default('https://api.github.com'),
    repositories: z.array(line(128)).min(1).max(MAX_REPOSITORIES).optional(),
    permissions: z
      .record(
        z.string().regex(/^[a-z_]{1,64}$/, 'must have names in lower case'),
        z.enum(['read', 'write', 'admin']),
      )
      .refine((entries) => Object.keys(entries).length <= MAX_PERMISSIONS, {
        message: `must have at most ${MAX_PERMISSIONS} entries`,
      })
      .optional(),
  })
  .refine((root) => root.client_id !== undefined || root.app_id !== undefined, {
    path: ['client_id'],
    message: 'is required unless app_id is given',
  })

const awsRole = z.strictObject({
  access_key_id: z
    .string()
    .regex(ACCESS_KEY_ID, 'must have 16 to 128 letters, digits or underscores'),
  secret_access_key: z.string().regex(CREDENTIAL, 'must have 8 to 16,384 visible ASCII characters'),
  role_arn: z.string().max(MAX_URL).regex(ROLE_ARN, 'must be the ARN of an IAM role'),
  external_id: z
    .string()
    .regex(EXTERNAL_ID, 'must have 2 to 1,224 letters, digits or _+=,.@:/-')
    .optional(),
  duration_seconds: z.int().min(900).max(43_200).default(3_600),
  session_policy: z
    .string()
    .max(MAX_SESSION_POLICY)
    .refine((text) => readJsonObject(new TextEncoder().encode(text)), {
      message: 'must be a JSON object as text',
    })
    .optional(),
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/, 'must be the name of a region')
    .default('us-east-1'),
  sts_url: baseUrl.optional(),
})

/** The schema of each kind's plaintext. */
export const rootFields = {
  oauth2,
  github_app: githubApp,
  aws_role: awsRole,
} as const satisfies Record<DerivedKind, z.ZodType>
