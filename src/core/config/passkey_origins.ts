/**
 * The origins that accept passkeys. A browser gives a passkey to the pages of one host name only, so this comes from
 * the configuration, and never from a request.
 */
import { isIP } from 'node:net'
import { list } from './forms.ts'

export const passkeyOrigins = list
  .refine(
    (origins) => origins.every(isOrigin),
    'must be origins such as https://vault.example.com, or http://localhost:8000, separated by commas',
  )
  .default([])

type Addresses = { PASSKEY_ORIGINS: readonly string[]; SERVICE_SERVER_URL?: string | undefined }

/** Each origin with the host name of its passkeys. Empty without a suitable setting. */
export function listRelyingParties({
  PASSKEY_ORIGINS: named,
  SERVICE_SERVER_URL: server = '',
}: Addresses): ReadonlyMap<string, string> {
  const own = URL.parse(server)?.origin ?? ''
  const origins = named.length > 0 ? named : [own].filter(isOrigin)
  return new Map(origins.map((origin) => [origin, new URL(origin).hostname]))
}

/** One in which browsers offer passkeys: of a name, over TLS unless it is this machine. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  if (url?.origin !== text || isIP(url.hostname.replace(/^\[|\]$/g, '')) > 0) return false
  const isLocal = /(?:^|\.)localhost$/.test(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)
}
