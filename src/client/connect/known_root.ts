/** A stored root's flow again. The root names its token endpoint only, so the others are looked up. */
import { registerClient } from './client_registration.ts'
import { discoverIssuer, discoverResource, type Endpoints, endpointsFrom } from './discovery.ts'
import type { ConnectDraft } from './flow.ts'
import type { ConnectPlan } from './plan.ts'
import { presets } from './presets.ts'
import { ConnectFault, type ProviderFetch } from './provider_fetch.ts'

/** The plaintext of an `oauth2` root (protocol 13.1). */
type OAuth2Fields = {
  token_url: string
  client_id: string
  client_secret?: string
  client_auth?: string
  refresh_token?: string
  scope?: string
  resource?: string
  audience?: string
  parameters?: Record<string, string>
}

type Given = { authorizeUrl?: string | undefined; issuer?: string | undefined }
type Again = Given & { redirectUri?: string | undefined; device?: boolean | undefined }
type Found = Pick<ConnectPlan, 'authorizeParameters'> & { endpoints: Endpoints }

/**
 * The flow of a stored root again, with its client, endpoints and scope.
 *
 * @param value the root's JSON
 * @throws ConnectFault
 */
export async function redraft(
  name: string,
  value: string,
  again: Again,
  send: ProviderFetch,
): Promise<ConnectDraft> {
  const { refresh_token: _, scope, ...fields } = JSON.parse(value) as OAuth2Fields
  const { token_url: __, resource: ___, audience, parameters, ...client } = fields
  const { endpoints, authorizeParameters } = await findEndpoints(fields, again, send)
  const { server } = endpoints
  // Its registered redirect address has the path of an earlier flow.
  const isRegistered = endpoints.resource !== undefined && server.registration_endpoint
  const clientFor = async (redirectUri: string) =>
    isRegistered && again.redirectUri === undefined && !again.device
      ? registerClient(server, { redirectUri, scope }, send)
      : client
  const rootFields = { audience, parameters }
  return { name, endpoints, scope, authorizeParameters, rootFields, clientFor }
}

/** From given endpoints, a preset, the resource, or the metadata of the token endpoint's host. @throws ConnectFault */
async function findEndpoints(
  { token_url: tokenUrl, resource }: Pick<OAuth2Fields, 'token_url' | 'resource'>,
  { authorizeUrl, issuer }: Given,
  send: ProviderFetch,
): Promise<Found> {
  const withResource = resource === undefined ? {} : { resource }
  if (authorizeUrl !== undefined) {
    return { endpoints: { ...endpointsFrom({ authorizeUrl, tokenUrl, issuer }), ...withResource } }
  }
  const preset = Object.values(presets).find((known) => known.tokenUrl === tokenUrl)
  if (preset) {
    const { authorizeParameters } = preset
    return { endpoints: endpointsFrom(preset), authorizeParameters }
  }
  const endpoints =
    resource === undefined
      ? { server: await discoverIssuer(issuer ?? new URL(tokenUrl).origin, send), hasIssuer: true }
      : await discoverResource(resource, send, issuer)
  if (endpoints.server.token_endpoint === tokenUrl) return { endpoints }
  const message =
    'The metadata of the provider names a different token endpoint than the stored connection.'
  throw new ConnectFault(
    'metadata_differs',
    message,
    'Pass --authorize-url, or connect it again as a new secret.',
  )
}
