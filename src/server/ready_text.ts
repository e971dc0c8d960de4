/** The text that a server prints when it is ready: its addresses, and how to test and stop it. */
import type { Config } from '../core/config/config.ts'
import { hostToAsk, toDialedAddress } from '../core/config/own_address.ts'

/** Origins of the listeners; `null` if ROLE leaves one out. */
export type Origins = { controlPlane: string | null; resolver: string | null; admin: string[] }

/** `consoleHash` is the console's hash as a release publishes it, or `null` from source. */
type Ready = Origins & {
  config: Pick<Config, 'ALLOWED_HOSTS' | 'SERVICE_SERVER_URL'>
  location: string
  consoleHash: string | null
  workers?: number
  notices?: readonly string[]
}

export function formatReadyText(ready: Ready): string {
  const { controlPlane, resolver, admin, location, consoleHash, workers = 1, notices = [] } = ready
  return [
    'Cloakroom is ready.',
    ...(controlPlane
      ? [
          `  control plane  ${controlPlane}`,
          `  console        ${addressOf('/console/', controlPlane, ready)} (${consoleHash === null ? 'built when first opened' : `SHA-256 ${consoleHash}`})`,
          `  documentation  ${addressOf('/docs/', controlPlane, ready)}`,
        ]
      : []),
    ...(resolver ? [`  resolver       ${resolver}`] : []),
    ...admin.map((origin) => `  metrics        ${origin}/metrics`),
    `  database       ${location}`,
    ...(workers > 1 ? [`  workers        ${workers}`] : []),
    ...notices.map((notice) => `  notice         ${notice}`),
    '',
    `Try:  ${tryLine(ready)}`,
    'Stop: Ctrl-C',
    '',
  ].join('\n')
}

/** A page's address that a browser can open: the public address, or this machine under an accepted name. */
function addressOf(path: string, controlPlane: string, { config }: Ready): string {
  const url = new URL(config.SERVICE_SERVER_URL ?? controlPlane)
  if (config.SERVICE_SERVER_URL === undefined)
    url.hostname = hostToAsk(config, toDialedAddress(url.hostname))
  return `${url.href.replace(/\/*$/, '')}${path}`
}

/** Works on this machine as printed: with an address to connect to, and an accepted host name. */
function tryLine({ controlPlane, resolver, config }: Ready): string {
  const url = new URL(controlPlane ? `${controlPlane}/api/status/health/` : `${resolver}/healthz`)
  url.hostname = toDialedAddress(url.hostname)
  const host = hostToAsk(config, url.hostname)
  // A shell may take the brackets of an IPv6 address for a pattern.
  const address = url.hostname.startsWith('[') ? `'${url}'` : `${url}`
  return host === url.hostname ? `curl ${address}` : `curl -H 'Host: ${host}' ${address}`
}
