/** Presets of providers: endpoints, how to request lasting access, and API hosts. */
export type Preset = {
  /** The provider's name in messages and pages. */
  title: string
  authorizeUrl: string
  tokenUrl: string
  /** RFC 8628. */
  deviceUrl?: string
  /** The provider's `iss` (RFC 9207); not checked if absent. */
  issuer?: string
  clientAuth: 'basic' | 'post' | 'none'
  /** Requested unless --scope is given. */
  scope?: string
  /** Scopes without which the provider issues no refresh token; always requested. */
  lastingScope?: string
  /** Between scopes; a space unless given. */
  scopeSeparator?: ','
  /** Added to the authorization request. */
  authorizeParameters?: Readonly<Record<string, string>>
  /** API hosts, in the syntax of the allowlist. */
  domains: readonly string[]
  /** The page on which a person registers the client. */
  registerAt: string
  /** The provider compares the whole redirect address, so it must be registered and given. */
  hasFixedRedirect?: true
}

export const presets: Readonly<Record<string, Preset>> = {
  google: {
    title: 'Google',
    authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    deviceUrl: 'https://oauth2.googleapis.com/device/code',
    issuer: 'https://accounts.google.com',
    clientAuth: 'post',
    authorizeParameters: { access_type: 'offline', prompt: 'consent' },
    domains: [
      'www.googleapis.com',
      'gmail.googleapis.com',
      'docs.googleapis.com',
      'sheets.googleapis.com',
      'slides.googleapis.com',
      'people.googleapis.com',
      'tasks.googleapis.com',
    ],
    registerAt: 'https://console.cloud.google.com/apis/credentials',
  },
  github: {
    title: 'GitHub',
    authorizeUrl: 'https://github.com/login/oauth/authorize',
    tokenUrl: 'https://github.com/login/oauth/access_token',
    deviceUrl: 'https://github.com/login/device/code',
    issuer: 'https://github.com/login/oauth',
    clientAuth: 'post',
    domains: ['api.github.com'],
    registerAt: 'https://github.com/settings/apps',
  },
  gitlab: {
    title: 'GitLab',
    authorizeUrl: 'https://gitlab.com/oauth/authorize',
    tokenUrl: 'https://gitlab.com/oauth/token',
    deviceUrl: 'https://gitlab.com/oauth/authorize_device',
    clientAuth: 'post',
    scope: 'read_api',
    domains: ['gitlab.com'],
    registerAt: 'https://gitlab.com/-/user_settings/applications',
    hasFixedRedirect: true,
  },
  microsoft: {
    title: 'Microsoft',
    authorizeUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    deviceUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/devicecode',
    clientAuth: 'none',
    scope: 'User.Read',
    lastingScope: 'offline_access',
    domains: ['graph.microsoft.com'],
    registerAt: 'https://entra.microsoft.com',
    hasFixedRedirect: true,
  },
  slack: {
    title: 'Slack',
    authorizeUrl: 'https://slack.com/oauth/v2/authorize',
    tokenUrl: 'https://slack.com/api/oauth.v2.access',
    clientAuth: 'post',
    scopeSeparator: ',',
    domains: ['slack.com'],
    registerAt: 'https://api.slack.com/apps',
    hasFixedRedirect: true,
  },
  linear: {
    title: 'Linear',
    authorizeUrl: 'https://linear.app/oauth/authorize',
    tokenUrl: 'https://api.linear.app/oauth/token',
    clientAuth: 'post',
    scope: 'read',
    scopeSeparator: ',',
    authorizeParameters: { prompt: 'consent' },
    domains: ['api.linear.app'],
    registerAt: 'https://linear.app/settings/api',
    hasFixedRedirect: true,
  },
  notion: {
    title: 'Notion',
    authorizeUrl: 'https://api.notion.com/v1/oauth/authorize',
    tokenUrl: 'https://api.notion.com/v1/oauth/token',
    clientAuth: 'basic',
    authorizeParameters: { owner: 'user' },
    domains: ['api.notion.com'],
    registerAt: 'https://www.notion.so/my-integrations',
    hasFixedRedirect: true,
  },
  atlassian: {
    title: 'Atlassian',
    authorizeUrl: 'https://auth.atlassian.com/authorize',
    tokenUrl: 'https://auth.atlassian.com/oauth/token',
    clientAuth: 'post',
    scope: 'read:jira-work',
    lastingScope: 'offline_access',
    authorizeParameters: { audience: 'api.atlassian.com', prompt: 'consent' },
    domains: ['api.atlassian.com'],
    registerAt: 'https://developer.atlassian.com/console/myapps',
    hasFixedRedirect: true,
  },
  salesforce: {
    title: 'Salesforce',
    authorizeUrl: 'https://login.salesforce.com/services/oauth2/authorize',
    tokenUrl: 'https://login.salesforce.com/services/oauth2/token',
    clientAuth: 'post',
    scope: 'api',
    lastingScope: 'refresh_token',
    domains: ['*.my.salesforce.com'],
    registerAt: 'https://login.salesforce.com',
    hasFixedRedirect: true,
  },
  hubspot: {
    title: 'HubSpot',
    authorizeUrl: 'https://app.hubspot.com/oauth/authorize',
    tokenUrl: 'https://api.hubapi.com/oauth/v1/token',
    clientAuth: 'post',
    scope: 'oauth',
    domains: ['api.hubapi.com'],
    registerAt: 'https://developers.hubspot.com',
    hasFixedRedirect: true,
  },
  zoom: {
    title: 'Zoom',
    authorizeUrl: 'https://zoom.us/oauth/authorize',
    tokenUrl: 'https://zoom.us/oauth/token',
    deviceUrl: 'https://zoom.us/oauth/devicecode',
    clientAuth: 'basic',
    domains: ['api.zoom.us'],
    registerAt: 'https://marketplace.zoom.us/develop/create',
    hasFixedRedirect: true,
  },
  dropbox: {
    title: 'Dropbox',
    authorizeUrl: 'https://www.dropbox.com/oauth2/authorize',
    tokenUrl: 'https://api.dropboxapi.com/oauth2/token',
    clientAuth: 'none',
    authorizeParameters: { token_access_type: 'offline' },
    domains: ['api.dropboxapi.com', 'content.dropboxapi.com'],
    registerAt: 'https://www.dropbox.com/developers/apps',
    hasFixedRedirect: true,
  },
  spotify: {
    title: 'Spotify',
    authorizeUrl: 'https://accounts.spotify.com/authorize',
    tokenUrl: 'https://accounts.spotify.com/api/token',
    clientAuth: 'none',
    domains: ['api.spotify.com'],
    registerAt: 'https://developer.spotify.com/dashboard',
    hasFixedRedirect: true,
  },
}
