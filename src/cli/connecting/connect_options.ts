/** The options of `connect`, and what they choose: endpoints, client and scope. */
import {
  acceptsMetadataUrl,
  chooseClientAuth,
  registerClient,
} from '../../client/connect/client_registration.ts'
import {
  discoverIssuer,
  discoverResource,
  type Endpoints,
  endpointsFrom,
} from '../../client/connect/discovery.ts'
import type { ConnectClient, ConnectPlan } from '../../client/connect/plan.ts'
import { type Preset, presets } from '../../client/connect/presets.ts'
import type { ProviderFetch } from '../../client/connect/provider_fetch.ts'
import type { OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import { nearNames } from '../named.ts'
import { CliError } from '../terminal/cli_error.ts'
import { askSecret, readPasswordFromStdin } from '../terminal/prompts.ts'
import { domainOf } from './root_hosts.ts'

/** How the person is asked; `secrets reconnect` has these too. */
export const flowOptions = [
  ['--device', 'confirm a code on any device instead of opening a browser here (RFC 8628)'],
  ['--no-browser', 'print the address instead of opening a browser'],
  ['--redirect-uri <url>', 'address registered at the provider: http://127.0.0.1:8976/callback'],
  ['--wait <duration>', 'how long to wait for the browser: 30s to 1h', '5m'],
  ['--allow', 'add hosts that are missing to the allowlist'],
  ['--authorize-url <url>', 'authorization endpoint'],
  ['--issuer <url>', 'issuer with metadata (RFC 8414 or OpenID)'],
] as const

export const providerOptions = [
  ['--provider <name>', `${Object.keys(presets).join(', ')}`],
  ['--url <url>', 'MCP server; its metadata names everything else'],
  ['--token-url <url>', 'token endpoint'],
  ['--device-url <url>', 'device authorization endpoint'],
  ['--client-id <id>', 'client registered at the provider'],
  ['--client-secret-stdin', 'read the client secret from standard input'],
  ['--public-client', 'the client has no secret'],
  ['--client-auth <method>', 'basic, post or none'],
  ['--client-metadata-url <url>', 'public client ID metadata document'],
  ['--scope <scope...>', 'scopes to request'],
  ['--parameter <name=value...>', 'added to the authorization request'],
] as const

export type ProviderChoice = OptionValues<typeof providerOptions> & {
  authorizeUrl: string | undefined
  issuer: string | undefined
}

export type ChosenProvider = {
  endpoints: Endpoints
  preset: Preset | undefined
  /** Hosts that use the credential, in the syntax of the allowlist; empty if unknown. */
  domains: readonly string[]
}

/** @throws CliError, ConnectFault */
export async function chooseProvider(
  options: ProviderChoice,
  send: ProviderFetch,
): Promise<ChosenProvider> {
  const { provider, url, issuer, authorizeUrl, tokenUrl, deviceUrl } = options
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
    throw new CliError(
      'usage',
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
  const names = Object.keys(presets)
  const near = nearNames(name, names)
  const hint = near.length > 0 ? `Did you mean ${near.join(', ')}?` : `Use ${names.join(', ')}.`
  throw new CliError('usage', `There is no preset for ${name}.`, hint)
}

/** Given, else a metadata document, else registered (13.6). @throws CliError, ConnectFault */
export async function chooseClient(
  context: Context,
  options: ProviderChoice,
  chosen: ChosenProvider,
  redirectUri: string,
  send: ProviderFetch,
): Promise<ConnectClient> {
  const { clientId, clientMetadataUrl } = options
  const { preset } = chosen
  const { server } = chosen.endpoints
  if (clientId !== undefined) return givenClient(context, clientId, options, server, preset)
  if (preset !== undefined) {
    const hint = `Register a client at ${preset.registerAt} with the redirect address ${redirectUri}`
    throw new CliError('usage', `${preset.title} needs a client of yours: pass --client-id.`, hint)
  }
  if (clientMetadataUrl !== undefined) {
    if (acceptsMetadataUrl(server)) return { client_id: clientMetadataUrl, client_auth: 'none' }
    context.output.warn('The provider does not accept client metadata documents; registering.')
  }
  return registerClient(server, { redirectUri, scope: chooseScope(options, chosen) }, send)
}

async function givenClient(
  { host }: Context,
  client_id: string,
  options: ProviderChoice,
  server: Endpoints['server'],
  preset: Preset | undefined,
): Promise<ConnectClient> {
  const { clientSecretStdin, publicClient, clientAuth = preset?.clientAuth } = options
  if (!['basic', 'post', 'none', undefined].includes(clientAuth)) {
    throw new CliError('usage', '--client-auth must be basic, post or none.')
  }
  const isPublic = publicClient || (clientAuth === 'none' && !clientSecretStdin)
  if (isPublic) return { client_id, client_auth: 'none' }
  const hint = 'Pass --client-secret-stdin, or --public-client if the client has no secret.'
  const client_secret = clientSecretStdin
    ? await readPasswordFromStdin(host)
    : await askSecret(host, `Client secret of ${client_id}`, { hint })
  const method = clientAuth === 'none' ? undefined : clientAuth
  return { client_id, client_secret, client_auth: method ?? chooseClientAuth(server) }
}

/** Scopes in the provider's form, with those that lasting access needs. */
export function chooseScope(
  options: ProviderChoice,
  { preset, endpoints }: ChosenProvider,
): string | undefined {
  const { scope: named, url } = options
  const words = (named?.join(' ') ?? preset?.scope ?? endpoints.scope ?? '').split(/[ ,]+/)
  const announced = url === undefined ? undefined : lastingScopeOf(endpoints)
  const all = [...words, ...(preset?.lastingScope ?? announced ?? '').split(' ')].filter(Boolean)
  return all.length === 0 ? undefined : [...new Set(all)].join(preset?.scopeSeparator ?? ' ')
}

function lastingScopeOf({ server }: Endpoints): string | undefined {
  return server.scopes_supported?.includes('offline_access') ? 'offline_access' : undefined
}

/** @throws CliError for what has no name */
export function chooseParameters(
  { parameter = [] }: ProviderChoice,
  preset: Preset | undefined,
): NonNullable<ConnectPlan['authorizeParameters']> {
  const pairs = parameter.map((text) => {
    const at = text.indexOf('=')
    if (at < 1) throw new CliError('usage', `--parameter ${text} is not name=value.`)
    return [text.slice(0, at), text.slice(at + 1)] as const
  })
  return { ...preset?.authorizeParameters, ...Object.fromEntries(pairs) }
}
