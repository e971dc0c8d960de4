/** The choices for a connection: the provider with its endpoints, the client and the scope. */
import { chooseClientAuth, registerClient } from './client_registration.ts'
import { discoverIssuer, discoverResource, type Endpoints, endpointsFrom } from './discovery.ts'
import { domainOf } from './domain_of.ts'
import type { ConnectClient } from './plan.ts'
import { type Preset, presets } from './presets.ts'
import { ConnectFault, type ProviderFetch } from './provider_fetch.ts'

/** One of `provider`, `url`, `tokenUrl` and `issuer` finds the endpoints, in this order. */
export type EndpointChoice = {
  /** A preset, or `generic`. */
  provider?: string | undefined
  /** Address of an MCP server. */
  url?: string | undefined
  issuer?: string | undefined
  authorizeUrl?: string | undefined
  tokenUrl?: string | undefined
  deviceUrl?: string | undefined
}

export type ClientChoice = {
  clientId?: string | undefined
  clientSecret?: string | undefined
  clientAuth?: string | undefined
}

export type ChosenProvider = {
  endpoints: Endpoints
  preset: Preset | undefined
  /** Hosts that use the credential, in the syntax of the allowlist; empty if unknown. */
  domains: readonly string[]
}

/** @throws ConnectFault */
export async function chooseProvider(
  choice: EndpointChoice,
  send: ProviderFetch,
): Promise<ChosenProvider> {
  const { provider, url, issuer, authorizeUrl, tokenUrl, deviceUrl } = choice
  if (url !== undefined) {
    const endpoints = await discoverResource(url, send, issuer)
    return { endpoints, preset: undefined, domains: [domainOf(url)] }
  }
  if (provider !== undefined && provider !== 'generic') {
    const preset = presetNamed(provider)
    const endpoints = endpointsFrom({
      authorizeUrl: authorizeUrl ?? preset.authorizeUrl,
      tokenUrl: tokenUrl ?? preset.tokenUrl,
      deviceUrl: deviceUrl ?? preset.deviceUrl,
      issuer: preset.issuer,
    })
    return { endpoints, preset, domains: preset.domains }
  }
  if (tokenUrl !== undefined) {
    const endpoints = endpointsFrom({ authorizeUrl, tokenUrl, deviceUrl, issuer })
    return { endpoints, preset: undefined, domains: [] }
  }
  if (issuer === undefined) {
    throw new ConnectFault(
      'provider_missing',
      'The provider is missing.',
      'Pass --provider, --url, --issuer, or --authorize-url with --token-url.',
    )
  }
  const server = await discoverIssuer(issuer, send)
  return { endpoints: { server, hasIssuer: true }, preset: undefined, domains: [] }
}

function presetNamed(name: string): Preset {
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined
  if (preset) return preset
  const names = Object.keys(presets).join(', ')
  throw new ConnectFault('unknown_provider', `There is no preset for ${name}.`, `Use ${names}.`)
}

/** The given client, else a new one; presets have no registration. @throws ConnectFault */
export async function chooseClient(
  { clientId, clientSecret, clientAuth }: ClientChoice,
  { preset, endpoints: { server } }: ChosenProvider,
  { redirectUri, scope }: { redirectUri: string; scope?: string | undefined },
  send: ProviderFetch,
): Promise<ConnectClient> {
  if (clientId !== undefined) {
    if (clientSecret === undefined) return { client_id: clientId, client_auth: 'none' }
    const named = clientAuth ?? preset?.clientAuth
    const client_auth = named && named !== 'none' ? named : chooseClientAuth(server)
    return { client_id: clientId, client_secret: clientSecret, client_auth }
  }
  if (preset === undefined) return registerClient(server, { redirectUri, scope }, send)
  throw new ConnectFault(
    'client_missing',
    `${preset.title} needs your own client: pass --client-id.`,
    `Register a client at ${preset.registerAt} with the redirect address ${redirectUri}`,
  )
}

/** Scopes in the provider's form, with those that lasting access needs. */
export function chooseScope(
  { scope: named, url }: { scope?: string | undefined; url?: string | undefined },
  { preset, endpoints }: ChosenProvider,
): string | undefined {
  const words = (named ?? preset?.scope ?? endpoints.scope ?? '').split(/[ ,]+/)
  const announced = url === undefined ? undefined : lastingScopeOf(endpoints)
  const all = [...words, ...(preset?.lastingScope ?? announced ?? '').split(' ')].filter(Boolean)
  return all.length === 0 ? undefined : [...new Set(all)].join(preset?.scopeSeparator ?? ' ')
}

function lastingScopeOf({ server }: Endpoints): string | undefined {
  return server.scopes_supported?.includes('offline_access') ? 'offline_access' : undefined
}
