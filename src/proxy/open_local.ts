/** The local backend with everything that it stands on. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json'
import { openAddressLookup, systemLookup } from '../outbound/address_lookup.ts'
import { openFetcher } from '../outbound/fetch.ts'
import { openSocketConnector } from '../outbound/websocket_connect.ts'
import { ConfigError, problemLine } from '../platform/config/config.ts'
import { settings } from '../platform/config/settings.ts'
import { parseCidrs } from '../platform/net/cidr.ts'
import type { Backend, Notice } from './backend.ts'
import { localBackend } from './local.ts'
import { Outbox, type Owner } from './outbox.ts'
import { OutboxDelivery, type Upload } from './outbox_delivery.ts'
import { VaultCache, type VaultPlace } from './vault_snapshot.ts'

export type LocalOptions = {
  place: VaultPlace
  owner: Owner
  upload: Upload
  /** Where the audit waits. */
  directory: string
  /** Its RESOLVER_* settings hold here as they do in a resolver. */
  env: Record<string, string | undefined>
  /** Ports of this machine that may not be connected to: the proxy's own. */
  ownPorts: () => readonly number[]
  notice: Notice
}

/** Milliseconds that the audit gets to reach the server when the proxy ends. */
const LAST_SYNC_MS = 3_000

const networking = settings.pick({
  RESOLVER_ALLOW_NETWORKS: true,
  RESOLVER_HOSTS: true,
  RESOLVER_CA_FILE: true,
  RESOLVER_TIMEOUT_MS: true,
})

/** @throws ConfigError for a setting that is not valid */
export function openLocalBackend(options: LocalOptions): Backend {
  const { place, owner, upload, directory, notice } = options
  const config = readNetworking(options.env)
  const authorities = readAuthorities(config.RESOLVER_CA_FILE)
  const fetcher = openFetcher(authorities)
  const outbox = new Outbox(directory, owner)
  const refusedFile = join(directory, 'refused.jsonl')
  const delivery = new OutboxDelivery(outbox, { upload, notice, refusedFile })
  return localBackend({
    vault: new VaultCache(place),
    projectId: place.projectId,
    environment: place.environment,
    outbox,
    addresses: openAddressLookup({
      allowed: parseCidrs(config.RESOLVER_ALLOW_NETWORKS),
      hosts: config.RESOLVER_HOSTS,
      lookup: systemLookup,
      ownPorts: options.ownPorts,
    }),
    fetcher,
    sockets: openSocketConnector(authorities),
    timeoutMs: config.RESOLVER_TIMEOUT_MS,
    userAgent: `cloakroom/${version}`,
    close: async () => {
      fetcher.close()
      await delivery.stop(LAST_SYNC_MS)
      await outbox.close()
    },
  })
}

function readNetworking(env: LocalOptions['env']) {
  const given = Object.fromEntries(
    Object.keys(networking.shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  )
  const parsed = networking.safeParse(given)
  if (parsed.success) return parsed.data
  throw new ConfigError(parsed.error.issues.map(problemLine))
}

function readAuthorities(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new ConfigError(['RESOLVER_CA_FILE is not a readable PEM file'])
}
