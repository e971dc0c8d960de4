/** The local carrier with everything that it stands on. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json'
import { openAddressLookup, systemLookup } from '../outbound/address_lookup.ts'
import { openDialler } from '../outbound/fetch.ts'
import { openSocketDialler } from '../outbound/websocket_dial.ts'
import { ConfigError, problemLine } from '../platform/config/config.ts'
import { settings } from '../platform/config/settings.ts'
import { parseCidrs } from '../platform/net/cidr.ts'
import type { Carrier, Notice } from './carrier.ts'
import { localCarrier } from './local.ts'
import { Outbox } from './outbox.ts'
import { OutboxDelivery, type Upload } from './outbox_delivery.ts'
import type { Owner } from './segment.ts'
import { type VaultPlace, ViewKeeper } from './vault_view.ts'

export type LocalOptions = {
  place: VaultPlace
  owner: Owner
  upload: Upload
  /** Where the audit waits. */
  directory: string
  /** Its RESOLVER_* settings hold here as they do in a resolver. */
  env: Record<string, string | undefined>
  /** Ports of this machine that may not be dialled: the proxy's own. */
  ownPorts: () => readonly number[]
  notice: Notice
}

/** Milliseconds that the audit gets to reach the server when the proxy ends. */
const LAST_SYNC_MS = 3_000

const dialling = settings.pick({
  RESOLVER_ALLOW_NETWORKS: true,
  RESOLVER_HOSTS: true,
  RESOLVER_CA_FILE: true,
  RESOLVER_TIMEOUT_MS: true,
})

/** @throws ConfigError for a setting that is not valid */
export function openLocalCarrier(options: LocalOptions): Carrier {
  const { place, owner, upload, directory, notice } = options
  const config = readDialling(options.env)
  const authorities = readAuthorities(config.RESOLVER_CA_FILE)
  const dialler = openDialler(authorities)
  const outbox = new Outbox(directory, owner)
  const refusedFile = join(directory, 'refused.jsonl')
  const delivery = new OutboxDelivery(outbox, { upload, notice, refusedFile })
  return localCarrier({
    views: new ViewKeeper(place),
    projectId: place.projectId,
    environment: place.environment,
    outbox,
    addresses: openAddressLookup({
      allowed: parseCidrs(config.RESOLVER_ALLOW_NETWORKS),
      hosts: config.RESOLVER_HOSTS,
      lookup: systemLookup,
      ownPorts: options.ownPorts,
    }),
    dialler,
    sockets: openSocketDialler(authorities),
    timeoutMs: config.RESOLVER_TIMEOUT_MS,
    userAgent: `cloakroom/${version}`,
    close: async () => {
      dialler.close()
      await delivery.stop(LAST_SYNC_MS)
      await outbox.close()
    },
  })
}

function readDialling(env: LocalOptions['env']) {
  const given = Object.fromEntries(
    Object.keys(dialling.shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  )
  const parsed = dialling.safeParse(given)
  if (parsed.success) return parsed.data
  throw new ConfigError(parsed.error.issues.map(problemLine))
}

function readAuthorities(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new ConfigError(['RESOLVER_CA_FILE is not a readable PEM file'])
}
