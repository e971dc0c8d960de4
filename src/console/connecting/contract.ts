/**
 * What the console of this machine does for its page: it runs the flow of a connection, since a page may reach its own
 * origin only. A server has none of these endpoints, so neither codes nor verifiers nor tokens pass through one.
 */
import { z } from 'zod'
import { parseDomain } from '../../core/net/domain.ts'
import { line, timestamp } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'

/** Bytes: a stored root, which is at most 64 KiB, as JSON in JSON. */
export const CONNECTION_BODY_LIMIT = 262_144

const url = line(2048).optional()
const again = {
  authorizeUrl: url,
  issuer: url,
  /** Registered at the provider. */
  redirectUri: url,
  /** The person confirms a code on any device (RFC 8628). */
  device: z.boolean().optional(),
}
const host = line(300).refine((text) => parseDomain(text) !== null, 'must be a host')

/** One of `provider`, `url`, `tokenUrl` and `issuer` finds the endpoints, in this order. */
const choice = z.strictObject({
  ...again,
  /** A preset. */
  provider: line(40).optional(),
  /** Address of an MCP server. */
  url,
  tokenUrl: url,
  deviceUrl: url,
  clientId: line(512).optional(),
  /** Absent for a public client. */
  clientSecret: z.string().min(1).max(4096).optional(),
  clientAuth: z.enum(['basic', 'post']).optional(),
  /** Scopes to request, with a space between them. */
  scope: line(2048).optional(),
  /** Hosts that may use the credential; required where neither `provider` nor `url` names them. */
  domains: z.array(host).min(1).max(100).optional(),
})
export type ConnectionChoice = z.input<typeof choice>

const stored = z.strictObject({
  ...again,
  /** The JSON of the stored root. */
  root: z.string().max(65_536),
})

const access = { kind: 'public', console: true } as const
const path = '/local/connections/{connection_id}/'
/** Nobody who cannot read the page's answers can guess it. */
const connectionId = z.string().regex(/^[\w-]{43}$/)
const params = z.object({ connection_id: connectionId })

export const startConnection = defineEndpoint({
  name: 'local.connections.start',
  summary: 'Start the flow of a connection',
  method: 'POST',
  path: '/local/connections/',
  access,
  body: z.strictObject({
    /** The secret that is to hold the root. */
    key: line(200),
    flow: z.union([z.strictObject({ choice }), z.strictObject({ stored })]),
  }),
  result: z.object({
    id: connectionId,
    /** For the person's browser. */
    url: z.string().nullable(),
    /** Of the device flow. */
    device: z.object({ userCode: z.string(), verificationUrl: z.string() }).nullable(),
    /** Hosts that may use the credential; empty for a stored root, whose policy has them. */
    domains: z.array(z.string()),
    expiresAt: timestamp,
  }),
})

export const readConnection = defineEndpoint({
  name: 'local.connections.read',
  summary: 'Get what came of a connection',
  method: 'GET',
  path,
  access,
  params,
  /** The root's JSON; null while the provider or the person is waited for. */
  result: z.object({ root: z.string().nullable() }),
})

export const endConnection = defineEndpoint({
  name: 'local.connections.end',
  summary: 'Cancel a connection, or forget its root',
  method: 'DELETE',
  path,
  access,
  params,
})
