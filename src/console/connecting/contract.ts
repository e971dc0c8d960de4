/**
 * Endpoints of the local console. It runs a connection's flow for its page, because the page can reach only its own origin.
 * A server has none of these endpoints, so it never receives codes, verifiers or tokens.
 */
import { z } from 'zod'
import { parseDomain } from '../../core/net/domain.ts'
import { line, timestamp } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'

/** Bytes of a stored root, at most 64 KiB, as JSON in JSON. */
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
  /** Hosts that may use the credential; required unless `provider` or `url` names them. */
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
/** Random, so that only a reader of the page's answers knows it. */
const connectionId = z.string().regex(/^[\w-]{43}$/)
const params = z.object({ connection_id: connectionId })

export const startConnection = defineEndpoint({
  name: 'local.connections.start',
  summary: 'Start the flow of a connection',
  method: 'POST',
  path: '/local/connections/',
  access,
  body: z.strictObject({
    /** The secret that will contain the root. */
    key: line(200),
    flow: z.union([z.strictObject({ choice }), z.strictObject({ stored })]),
  }),
  result: z.object({
    id: connectionId,
    /** For the person's browser. */
    url: z.string().nullable(),
    /** Only for the device flow. */
    device: z.object({ userCode: z.string(), verificationUrl: z.string() }).nullable(),
    /** Hosts that may use the credential; empty for a stored root, whose policy has them. */
    domains: z.array(z.string()),
    expiresAt: timestamp,
  }),
})

export const readConnection = defineEndpoint({
  name: 'local.connections.read',
  summary: 'Get the status of a connection',
  method: 'GET',
  path,
  access,
  params,
  /** The root's JSON. Null while the flow waits for the provider or the user. */
  result: z.object({ root: z.string().nullable() }),
})

export const endConnection = defineEndpoint({
  name: 'local.connections.end',
  summary: 'Cancel a connection, or discard its root',
  method: 'DELETE',
  path,
  access,
  params,
})
