/** The typed fields for connecting a provider. */
import type { Input, Returned } from '../../../keys/messages.ts'

type Choice = Input<'connections.start'>['choice']
export type ConnectProvider = Returned<'connections.providers'>['providers'][number]

/** In place of a provider's name. */
export const MCP = 'mcp'
export const OTHER = 'other'

export type Draft = {
  key: string
  provider: string
  url: string
  issuer: string
  clientId: string
  clientSecret: string
  scope: string
  domains: readonly string[]
  redirectUri: string
  isDevice: boolean
}

export const EMPTY: Draft = {
  key: '',
  provider: MCP,
  url: '',
  issuer: '',
  clientId: '',
  clientSecret: '',
  scope: '',
  domains: [],
  redirectUri: '',
  isDevice: false,
}

/** Any free port will do, but some providers compare the whole address. */
const REDIRECT = 'http://127.0.0.1:8976/callback'

export function withProvider(
  draft: Draft,
  id: string,
  provider: ConnectProvider | undefined,
): Draft {
  return {
    ...draft,
    provider: id,
    scope: provider?.scope ?? '',
    domains: provider?.domains ?? [],
    redirectUri: hasRedirect(id, provider) ? REDIRECT : '',
    isDevice: false,
  }
}

/** Other providers compare the path with the registered address, too. */
export function hasRedirect(id: string, provider: ConnectProvider | undefined): boolean {
  return id === OTHER || provider?.hasFixedRedirect === true
}

/** Empty fields are left out. */
export function connectChoiceOf(draft: Draft): Choice {
  const { provider, url, issuer, clientId, clientSecret, scope, redirectUri, domains } = draft
  const endpoints = provider === MCP ? { url } : provider === OTHER ? { issuer } : { provider }
  const typed = { clientId, clientSecret, scope, redirectUri }
  return {
    ...endpoints,
    ...Object.fromEntries(Object.entries(typed).filter(([, text]) => text !== '')),
    ...(domains.length > 0 ? { domains: [...domains] } : {}),
    ...(draft.isDevice ? { device: true } : {}),
  }
}
