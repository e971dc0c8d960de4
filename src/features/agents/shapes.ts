/** The fields of agents and tokens on the wire (protocol 5.3). */
import { z } from 'zod'
import { type Capability, capabilities as known } from '../../core/capability.ts'
import { fromBase64 } from '../../core/crypto/encoding.ts'
import { isTokenEnvelope } from '../../core/crypto/envelope.ts'
import { demandActorName } from '../../core/names/actor_name.ts'
import type { TokenLimits } from '../../core/token_limits.ts'
import { base64, buildNameSchema, timestamp, title } from '../../core/validation/validate.ts'
import {
  environment,
  exampleOfForm,
  exampleToken,
  id,
  integer,
  projectId,
  publicKey,
  rarelyNeeded,
  shownSignedText,
  signedText,
  statementBeside,
  text,
  tokenId,
} from '../../http/fields.ts'
import { narrowing, shownNarrowing } from './narrowing.ts'

/** In one call. */
export const MOST_TOKEN_ENVELOPES = 500
const MAX_KEPT = 1000
const ENVELOPE_BYTES = 81
const KEY_BYTES = 32
const MAX_EPOCH = 65_535

const agentName = buildNameSchema(100)
  .superRefine(demandActorName)
  .meta({ examples: ['deploy-bot'] })

/** The server opens token envelopes itself, so they must have its form (protocol 3.2). */
const sealedKey = base64(ENVELOPE_BYTES, ENVELOPE_BYTES)
  .refine((text) => {
    const bytes = fromBase64(text)
    return bytes !== null && isTokenEnvelope(bytes)
  }, 'must be an envelope of version 1')
  .meta({ examples: [exampleOfForm.envelope] })

const tokenEnvelope = z
  .strictObject({
    project_id: projectId,
    environment,
    epoch: z.number().int().min(1).max(MAX_EPOCH),
    envelope: sealedKey,
    ...statementBeside,
  })
  .meta({ id: 'TokenEnvelope' })

export const tokenEnvelopes = z
  .array(tokenEnvelope)
  .max(MOST_TOKEN_ENVELOPES)
  .superRefine((list, context) => {
    const seen = new Set<string>()
    for (const [index, { project_id, environment }] of list.entries()) {
      const place = `${project_id} ${environment}`
      if (seen.has(place))
        context.addIssue({ code: 'custom', path: [index], message: 'is given twice' })
      seen.add(place)
    }
  })

/** By its secret, a token's bearer trusts the right chain (protocol 12.2). */
export const binding = base64(KEY_BYTES, KEY_BYTES).meta(rarelyNeeded).optional()

/** The grants and envelope statements that are signed again when a member leaves. */
export const keptGrants = z
  .array(
    z
      .strictObject({
        token_id: tokenId,
        grant: signedText.optional(),
        envelopes: tokenEnvelopes.default([]),
      })
      .meta({ id: 'KeptGrant' }),
  )
  .max(MAX_KEPT)
  .refine(
    (list) => new Set(list.map(({ token_id }) => token_id)).size === list.length,
    'names a token twice',
  )
  .meta(rarelyNeeded)
  .optional()
export type KeptGrants = NonNullable<z.output<typeof keptGrants>>

/** A token whose secret the server never sees: the client sends only its verifier. */
const clientMade = z
  .strictObject({
    id,
    verifier: base64(KEY_BYTES, KEY_BYTES).meta({ examples: [exampleOfForm.publicKey] }),
    public_key: publicKey,
    envelopes: tokenEnvelopes.default([]),
    /** In signed workspaces it says label, capabilities, scope and expiry. */
    grant: signedText.meta(rarelyNeeded).optional(),
    binding,
  })
  .meta({ id: 'ClientMadeToken' })

export const LABEL = 'default'
export const LIFETIME_DAYS = 90
export const MAX_LIFETIME_DAYS = 3650

export const label = title(100).superRefine(demandActorName)

/** No zod defaults: terms in the grant must be omitted here. */
const lifetime = {
  label: label.meta({ examples: ['ci'], default: LABEL }).optional(),
  expires_in_days: z
    .number()
    .int()
    .min(1)
    .max(MAX_LIFETIME_DAYS)
    .meta({ examples: [90] })
    .nullable()
    .meta({ default: LIFETIME_DAYS })
    .optional(),
  ...narrowing,
}

/** One way to write each set, as the database has it. */
export const capabilities = z
  .array(z.enum(known))
  .min(1)
  .max(known.length)
  .refine(
    (list) => list.join() === known.filter((one) => list.includes(one)).join(),
    'must be ["use"], ["use", "read"] or ["read"]',
  )
  .meta({ examples: [['use']] })

/** The default capabilities of tokens. */
export const USUAL = { agent: ['use'], workload: ['use', 'read'] } as const

/** The order of an agent's token. */
export const order = {
  ...lifetime,
  environment: environment.nullable().meta({ default: null }).optional(),
  capabilities: capabilities.meta({ default: USUAL.agent }).optional(),
  token: clientMade.optional(),
}

/** The order of an agent with its first token. */
export const registration = z
  .strictObject({
    name: agentName,
    /** Chosen by a client whose grant names it. */
    id: id.meta(rarelyNeeded).optional(),
    ...order,
  })
  .meta({ id: 'AgentRegistration' })

/** A workload token always has a unique label and an environment (protocol 4). */
export const workloadOrder = z
  .strictObject({
    ...lifetime,
    label: label.meta({ examples: ['ci'] }).optional(),
    environment: environment.optional(),
    capabilities: capabilities.meta({ default: USUAL.workload }).optional(),
    token: clientMade.optional(),
  })
  .superRefine(({ label, environment, token }, context) => {
    if (token?.grant) return
    const missing = Object.entries({ label, environment }).filter(([, said]) => said === undefined)
    for (const [field] of missing)
      context.addIssue({ code: 'custom', path: [field], message: 'is required' })
  })
  .meta({ id: 'WorkloadTokenOrder' })

export type TokenEnvelope = z.output<typeof tokenEnvelope>

/** An order of either kind. */
export type Order = {
  label?: string | undefined
  expires_in_days?: number | null | undefined
  environment?: string | null | undefined
  capabilities?: readonly Capability[] | undefined
  hosts?: readonly string[] | null | undefined
  secrets?: readonly string[] | null | undefined
  limits?: TokenLimits | null | undefined
  token?: z.output<typeof clientMade> | undefined
}

export const agent = z
  .object({
    id,
    name: text('deploy-bot'),
    project_id: projectId.nullable(),
    token_count: z.number().int(),
    has_more_tokens: z.literal(true).optional(),
    active_token_count: z.number().int(),
    last_used_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Agent' })

/** `token` is shown this once, and is null where the client made it. */
export const issuedToken = z.object({
  token: text(exampleToken('agt')).nullable(),
  token_id: tokenId,
  public_key: text(exampleOfForm.publicKey),
  capabilities,
})

export const orderedToken = issuedToken
  .extend({
    label: text('ci'),
    environment: text('production').nullable(),
    expires_at: timestamp.nullable(),
  })
  .meta({ id: 'IssuedToken' })

const provision = z
  .object({
    project_id: projectId,
    environment: text('production'),
    epoch: z.number().int(),
    ...statementBeside,
  })
  .meta({ id: 'Provision' })

export const provisioned = z.array(provision)
export type Provision = z.output<typeof provision>

export const token = z
  .object({
    id,
    label: text('ci'),
    environment: text('production').nullable(),
    capabilities,
    status: z.enum(['active', 'revoked', 'expired']),
    expires_in_days: integer(90).nullable(),
    expires_at: timestamp.nullable(),
    revoked_at: timestamp.nullable(),
    last_used_at: timestamp.nullable(),
    created_at: timestamp,
    public_key: text(exampleOfForm.publicKey),
    provisioned,
    ...shownNarrowing,
    /** In signed workspaces; null until there is one, and without one it can do nothing. */
    grant: shownSignedText.nullable().meta(rarelyNeeded).optional(),
  })
  .meta({ id: 'Token' })
