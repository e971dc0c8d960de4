/** The authorization endpoint of a stored root, which names its token endpoint only. */
import {
  discoverIssuer,
  discoverResource,
  type Endpoints,
  endpointsFrom,
} from '../../client/connect/discovery.ts'
import type { ConnectPlan } from '../../client/connect/plan.ts'
import { presets } from '../../client/connect/presets.ts'
import { ConnectFault, type ProviderFetch } from '../../client/connect/provider_fetch.ts'

/** The plaintext of an `oauth2` root (protocol 13.1). */
export type OAuth2Fields = {
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

type Given = { authorizeUrl: string | undefined; issuer: string | undefined }
type Found = Pick<ConnectPlan, 'authorizeParameters'> & { endpoints: Endpoints }

/** By what is given, a preset, the resource, or the metadata of the token endpoint's host. @throws ConnectFault */
export async function findEndpoints(
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
  const message = 'The metadata of the provider names another token endpoint than the root.'
  throw new ConnectFault(message, 'Pass --authorize-url, or connect it again as a new secret.')
}
