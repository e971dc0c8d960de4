/** Signed texts: links of a workspace's chain, and statements about its tokens, envelopes and secrets. */
import canonicalize from 'canonicalize'
import { z } from 'zod'
import { isInOrder, MAX_APPROVED_SECRETS } from '../core/crypto/approval/call.ts'
import {
  address,
  callMethod,
  domain,
  hash,
  host,
  id,
  key,
  listOf,
  number,
  path,
  role,
  secretName,
  signedId,
  time,
} from './fields.ts'

const person = z.strictObject({ user_id: id, email: address, signing_key: key, public_key: key })
const member = person.extend({ role })
const epoch = number.min(1)

const bodies = {
  'workspace.created': z.strictObject({
    founder: person,
    epoch: z.literal(1),
    key_commitment: key,
  }),
  'members.put': z.strictObject({ members: listOf(member, 1) }),
  'members.removed': z.strictObject({ user_ids: listOf(id, 1) }),
  'keys.rotated': z.strictObject({ signing_key: key, public_key: key }),
  'epoch.advanced': z.strictObject({ epoch, key_commitment: key }),
  'allowlist.changed': z
    .strictObject({ add: listOf(domain, 0), remove: listOf(domain, 0) })
    .refine(({ add, remove }) => add.length + remove.length > 0),
  'tokens.revoked': z.strictObject({ token_ids: listOf(signedId, 1) }),
  'workspace.deleted': z.strictObject({}),
} as const

type Type = keyof typeof bodies

function linkOf<T extends Type>(type: T) {
  return z.strictObject({
    v: z.literal(2),
    workspace_id: signedId,
    seq: number,
    prev: hash.nullable(),
    at: time,
    signer: id,
    type: z.literal(type),
    body: bodies[type],
  })
}

const link = z.discriminatedUnion('type', [
  linkOf('workspace.created'),
  linkOf('members.put'),
  linkOf('members.removed'),
  linkOf('keys.rotated'),
  linkOf('epoch.advanced'),
  linkOf('allowlist.changed'),
  linkOf('tokens.revoked'),
  linkOf('workspace.deleted'),
])

const about = { v: z.literal(2), workspace_id: signedId, head: hash, signer: id }

const grantFields = {
  ...about,
  token_id: signedId,
  kind: z.enum(['agent', 'workload']),
  agent_id: id.nullable(),
  label: z.string(),
  public_key: key,
  capabilities: z.union([
    z.tuple([z.literal('use')]),
    z.tuple([z.literal('use'), z.literal('read')]),
    z.tuple([z.literal('read')]),
  ]),
  project_id: id.nullable(),
  environment: z.string().nullable(),
  expires_at: time.nullable(),
}

const MAX_NARROWED = 100
const limitTo100 = <T>(element: z.ZodType<T>) =>
  listOf(element, 0)
    .refine((list) => list.length <= MAX_NARROWED)
    .nullable()
/** Bytes of a day may be more than other numbers of a signed text. */
const limit = z.int().min(1).nullable()
const limits = z
  .strictObject({
    calls_per_minute: limit,
    calls_per_day: limit,
    concurrent_calls: limit,
    bytes_per_day: limit,
    model_tokens_per_day: limit,
  })
  .nullable()

/** The additional fields of a version 3 grant. They only restrict, and null means no restriction (protocol 6.3). */
const narrowing = {
  hosts: limitTo100(domain),
  secrets: limitTo100(secretName),
  limits,
}

const grant = z
  .discriminatedUnion('v', [
    z.strictObject(grantFields),
    z.strictObject({ ...grantFields, v: z.literal(3), ...narrowing }),
  ])
  .refine(({ kind, agent_id }) => (kind === 'agent') === (agent_id !== null))
  .refine(
    ({ kind, project_id, environment }) =>
      kind === 'agent' || (project_id !== null && environment !== null),
  )

const envelope = z.strictObject({
  ...about,
  token_id: signedId,
  project_id: id,
  environment: z.string(),
  epoch,
  envelope_sha256: hash,
})

const manifest = z.strictObject({
  ...about,
  project_id: id,
  environment: z.string(),
  epoch,
  revision: number.min(1),
  root: hash,
})

/** A release of held secrets to one call, or to the calls of a window (protocol 14.3). */
const release = z.strictObject({
  ...about,
  v: z.literal(3),
  approval_id: id,
  token_id: signedId,
  digest: hash,
  scope: z
    .strictObject({ host, methods: listOf(callMethod, 1).refine(isDistinct), path_prefix: path })
    .nullable(),
  secrets: listOf(
    z.strictObject({
      project_id: id,
      environment: z.string(),
      key: secretName,
      value_sha256: hash,
      policy_sha256: hash,
      envelope_sha256: hash,
    }),
    1,
  ).refine((secrets) => secrets.length <= MAX_APPROVED_SECRETS && isInOrder(secrets)),
  expires_at: time,
})

function isDistinct(list: readonly string[]): boolean {
  return new Set(list).size === list.length
}

type Texts = {
  link: z.output<typeof link>
  grant: z.output<typeof grant>
  envelope: z.output<typeof envelope>
  manifest: z.output<typeof manifest>
  release: z.output<typeof release>
}
export type Kind = keyof Texts
export type TextOf<K extends Kind> = Texts[K]

export const schemas: { [K in Kind]: z.ZodType<Texts[K]> } = {
  link,
  grant,
  envelope,
  manifest,
  release,
}

export type Link = TextOf<'link'>
export type HeldRelease = TextOf<'release'>
/** The signed grant of a token. */
export type TokenGrant = TextOf<'grant'>
/** A token's hosts in the allowlist's syntax, secret names, and limits. Null means no restriction. */
export type Narrowing = {
  hosts: readonly string[] | null
  secrets: readonly string[] | null
  limits: z.output<typeof limits>
}

/** Returns how a grant narrows its token. */
export function readNarrowing(grant: TokenGrant): Narrowing {
  if (grant.v !== 3) return { hosts: null, secrets: null, limits: null }
  return { hosts: grant.hosts, secrets: grant.secrets, limits: grant.limits }
}

/** Whether two narrowings are equal, with lists in the same order. */
export function isSameNarrowing(one: Narrowing, other: Narrowing): boolean {
  return canonicalize(toNarrowingTerms(one)) === canonicalize(toNarrowingTerms(other))
}

/** Returns only the narrowing of a row. */
function toNarrowingTerms({ hosts, secrets, limits }: Narrowing) {
  return { hosts, secrets, limits }
}
export type Person = z.output<typeof person>
export type Member = z.output<typeof member>

/** Returns the public keys that a text introduces, with which others will verify and seal. */
export function keysOf(text: TextOf<Kind>): { signing_key?: string; public_key: string }[] {
  if ('public_key' in text) return [text]
  if (!('body' in text)) return []
  if (text.type === 'workspace.created') return [text.body.founder]
  if (text.type === 'members.put') return text.body.members
  return text.type === 'keys.rotated' ? [text.body] : []
}
