/**
 * Roots (protocol 13.1): the long-lived credentials from which a call's short-lived one is derived. Runs in
 * browsers too, because clients check a root before they seal it.
 */
import type { z } from 'zod'
import { Fault, type FieldFault, formatInWords } from '../core/fault.ts'
import type { DerivedKind } from '../core/policy/policy.ts'
import { fieldFaults } from '../core/validation/complaints.ts'
import { readJsonObject } from './json.ts'
import { type ClientAuth, chooseDefaultClientAuth, rootFields } from './root_fields.ts'

/** Bytes of a root's plaintext. */
export const MAX_ROOT_BYTES = 65_536

export type OAuth2Root = {
  kind: 'oauth2'
  tokenUrl: string
  clientId: string
  clientSecret: string | null
  clientAuth: ClientAuth
  privateKey: string | null
  keyId: string | null
  assertionAudience: string
  refreshToken: string | null
  scope: string | null
  resource: string | null
  audience: string | null
  parameters: Readonly<Record<string, string>>
}

export type GithubAppRoot = {
  kind: 'github_app'
  clientId: string | null
  appId: string | null
  privateKey: string
  installationId: string
  apiUrl: string
  repositories: readonly string[] | null
  permissions: Readonly<Record<string, string>> | null
}

export type AwsRoleRoot = {
  kind: 'aws_role'
  accessKeyId: string
  secretAccessKey: string
  roleArn: string
  externalId: string | null
  /** 900 to 43,200. */
  durationSeconds: number
  sessionPolicy: string | null
  region: string
  stsUrl: string
}

export type Root = OAuth2Root | GithubAppRoot | AwsRoleRoot

type Read = { root: Root; faults: [] } | { root: null; faults: FieldFault[] }

/**
 * Checks a plaintext before it is sealed.
 *
 * @returns its problems by field, without any value; empty for a root of this kind
 */
export function checkRoot(kind: DerivedKind, plaintext: Uint8Array): FieldFault[] {
  return read(kind, plaintext).faults
}

/**
 * @param name the secret's name, for the message
 * @throws Fault `unusable_secret` that names the secret and the fields, and shows no value
 */
export function readRoot(kind: DerivedKind, plaintext: Uint8Array, name: string): Root {
  const { root, faults } = read(kind, plaintext)
  if (root) return root
  const message = `The secret ${name} is not a usable root of the kind ${kind}.`
  throw new Fault('unusable_secret', { message: formatInWords(message, faults) })
}

function read(kind: DerivedKind, plaintext: Uint8Array): Read {
  if (plaintext.length > MAX_ROOT_BYTES) return refuse('must have at most 65,536 bytes')
  const object = readJsonObject(plaintext)
  if (object === null) return refuse('must be a JSON object without repeated names')
  // The table pairs each kind with the reader of its schema's output.
  const [schema, toRoot] = readers[kind] as [z.ZodType, (fields: unknown) => Root]
  const parsed = schema.safeParse(object, { reportInput: true })
  if (parsed.success) return { root: toRoot(parsed.data), faults: [] }
  return { root: null, faults: faultsIn(kind, parsed.error.issues) }
}

function refuse(message: string): Read {
  return { root: null, faults: [{ path: '', message }] }
}

/** Names below a field, and names of unknown fields, are part of the plaintext: both are left out. */
function faultsIn(kind: DerivedKind, issues: readonly z.core.$ZodIssue[]): FieldFault[] {
  const known = Object.keys(rootFields[kind].shape).join(', ')
  const faults = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? [{ path: '', message: `must have no other fields than ${known}` }]
      : fieldFaults([{ ...issue, path: issue.path.slice(0, 1) }]),
  )
  const isFirst = ({ path }: FieldFault, index: number) =>
    faults.findIndex((other) => other.path === path) === index
  return faults.filter(isFirst)
}

type FieldsOf<K extends DerivedKind> = z.output<(typeof rootFields)[K]>

const readers: {
  [K in DerivedKind]: [(typeof rootFields)[K], (fields: FieldsOf<K>) => Extract<Root, { kind: K }>]
} = {
  oauth2: [rootFields.oauth2, toOAuth2Root],
  github_app: [rootFields.github_app, toGithubAppRoot],
  aws_role: [rootFields.aws_role, toAwsRoleRoot],
}

function toOAuth2Root(fields: FieldsOf<'oauth2'>): OAuth2Root {
  return {
    kind: 'oauth2',
    tokenUrl: fields.token_url,
    clientId: fields.client_id,
    clientSecret: fields.client_secret ?? null,
    clientAuth: fields.client_auth ?? chooseDefaultClientAuth(fields.client_secret),
    privateKey: fields.private_key ?? null,
    keyId: fields.key_id ?? null,
    assertionAudience: fields.assertion_audience ?? fields.token_url,
    refreshToken: fields.refresh_token ?? null,
    scope: fields.scope ?? null,
    resource: fields.resource ?? null,
    audience: fields.audience ?? null,
    parameters: fields.parameters ?? {},
  }
}

function toGithubAppRoot(fields: FieldsOf<'github_app'>): GithubAppRoot {
  return {
    kind: 'github_app',
    clientId: fields.client_id ?? null,
    appId: fields.app_id ?? null,
    privateKey: fields.private_key,
    installationId: fields.installation_id,
    apiUrl: fields.api_url,
    repositories: fields.repositories ?? null,
    permissions: fields.permissions ?? null,
  }
}

function toAwsRoleRoot(fields: FieldsOf<'aws_role'>): AwsRoleRoot {
  return {
    kind: 'aws_role',
    accessKeyId: fields.access_key_id,
    secretAccessKey: fields.secret_access_key,
    roleArn: fields.role_arn,
    externalId: fields.external_id ?? null,
    durationSeconds: fields.duration_seconds,
    sessionPolicy: fields.session_policy ?? null,
    region: fields.region,
    stsUrl: fields.sts_url ?? stsUrlOf(fields.region),
  }
}

/** The region's endpoint; AWS in China has another domain for its partition. */
function stsUrlOf(region: string): string {
  return `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`
}
