/** The options of `connect`, and the client and scope that they choose. */
import {
  type ChosenProvider,
  type ClientChoice,
  chooseClient,
  chooseScope,
} from '../../client/connect/choice.ts'
import { acceptsMetadataUrl } from '../../client/connect/client_registration.ts'
import type { ConnectClient, ConnectPlan } from '../../client/connect/plan.ts'
import { type Preset, presets } from '../../client/connect/presets.ts'
import type { ProviderFetch } from '../../client/connect/provider_fetch.ts'
import type { OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError } from '../terminal/cli_error.ts'
import { askSecret, readPasswordFromStdin } from '../terminal/prompts.ts'

/** How the person is asked; `secrets reconnect` has these too. */
export const flowOptions = [
  ['--device', 'confirm a code on any device instead of opening a browser here (RFC 8628)'],
  ['--no-browser', 'print the address instead of opening a browser'],
  [
    '--redirect-uri <url>',
    'redirect address registered at the provider: http://127.0.0.1:8976/callback',
  ],
  ['--wait <duration>', 'how long to wait for the browser: 1s to 1h', '5m'],
  ['--allow', 'add missing hosts to the allowlist'],
  ['--authorize-url <url>', 'authorization endpoint'],
  ['--issuer <url>', 'issuer with metadata (RFC 8414 or OpenID)'],
] as const

export const providerOptions = [
  ['--provider <name>', `${Object.keys(presets).join(', ')}`],
  ['--url <url>', 'MCP server; its metadata provides the other settings'],
  ['--token-url <url>', 'token endpoint'],
  ['--device-url <url>', 'device authorization endpoint'],
  ['--client-id <id>', 'client ID registered at the provider'],
  ['--client-secret-stdin', 'read the client secret from standard input'],
  ['--public-client', 'the client has no secret'],
  ['--client-auth <method>', 'basic, post or none'],
  ['--client-metadata-url <url>', 'public client ID metadata document'],
  ['--scope <scope...>', 'scopes to request'],
  ['--parameter <name=value...>', 'parameter to add to the authorization request'],
] as const

export type ProviderOptions = OptionValues<typeof providerOptions> & {
  authorizeUrl: string | undefined
  issuer: string | undefined
}

/** Given, else a metadata document, else registered (13.6). @throws CliError, ConnectFault */
export async function resolveClient(
  context: Context,
  options: ProviderOptions,
  chosen: ChosenProvider,
  redirectUri: string,
  send: ProviderFetch,
): Promise<ConnectClient> {
  const { clientId, clientMetadataUrl } = options
  const { preset, endpoints } = chosen
  const isDocument = clientId === undefined && preset === undefined && clientMetadataUrl
  if (isDocument) {
    if (acceptsMetadataUrl(endpoints.server)) {
      return { client_id: clientMetadataUrl, client_auth: 'none' }
    }
    context.output.warn('The provider does not accept client metadata documents; registering.')
  }
  const client = clientId === undefined ? {} : await readClient(context, clientId, options, preset)
  return chooseClient(client, chosen, { redirectUri, scope: selectScope(options, chosen) }, send)
}

async function readClient(
  { host }: Context,
  clientId: string,
  options: ProviderOptions,
  preset: Preset | undefined,
): Promise<ClientChoice> {
  const { clientSecretStdin, publicClient, clientAuth = preset?.clientAuth } = options
  if (!['basic', 'post', 'none', undefined].includes(clientAuth)) {
    throw new CliError('usage', '--client-auth must be basic, post or none.')
  }
  const isPublic = publicClient || (clientAuth === 'none' && !clientSecretStdin)
  if (isPublic) return { clientId }
  const hint = 'Pass --client-secret-stdin, or --public-client if the client has no secret.'
  const clientSecret = clientSecretStdin
    ? await readPasswordFromStdin(host)
    : await askSecret(host, `Client secret of ${clientId}`, { hint })
  return { clientId, clientSecret, clientAuth }
}

export function selectScope(
  { scope, url }: ProviderOptions,
  chosen: ChosenProvider,
): string | undefined {
  return chooseScope({ scope: scope?.join(' '), url }, chosen)
}

/** @throws CliError without a name */
export function chooseParameters(
  { parameter = [] }: ProviderOptions,
  preset: Preset | undefined,
): NonNullable<ConnectPlan['authorizeParameters']> {
  const pairs = parameter.map((text) => {
    const at = text.indexOf('=')
    if (at < 1) throw new CliError('usage', `--parameter ${text} is not name=value.`)
    return [text.slice(0, at), text.slice(at + 1)] as const
  })
  return { ...preset?.authorizeParameters, ...Object.fromEntries(pairs) }
}
