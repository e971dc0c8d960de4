/** The resolver's parts, put together. */
import { existsSync, readFileSync } from 'node:fs'
import { version } from '../../package.json'
import type { Broker } from '../access/index.ts'
import { type Lookup, openAddressBook, systemLookup } from '../outbound/address_lookup.ts'
import { openDialler } from '../outbound/fetch.ts'
import { openSocketDialler } from '../outbound/websocket_dial.ts'
import { ConfigError } from '../platform/config/config.ts'
import { type Route, rawRoute } from '../platform/http/serve.ts'
import { parseCidrs } from '../platform/net/cidr.ts'
import type { SliceServices } from '../platform/services.ts'
import { tellDomains } from './allowlist.ts'
import { Lanes } from './bulkhead.ts'
import { forwardCalls, listDomains, resolveCall } from './contract.ts'
import { forward } from './forward.ts'
import { OpenCalls } from './live_calls.ts'
import { resolve } from './resolve.ts'
import { Turns } from './scheduler.ts'
import type { ResolverServices } from './services.ts'

export type Resolver = {
  routes: Route[]
  /** The policy of a workspace changed, or may have in any: what is open is judged again. */
  recheck(workspaceId?: string): void
  close(): void
}

type Options = {
  broker: Broker
  ownPorts: () => readonly number[]
  lookup?: Lookup | undefined
}

/** @throws ConfigError when RESOLVER_CA_FILE cannot be read */
export function openResolver(
  { config, clock, log }: SliceServices,
  { broker, ownPorts, lookup = systemLookup }: Options,
): Resolver {
  const authorities = readAuthorities(config.RESOLVER_CA_FILE)
  const services: ResolverServices = {
    ...broker,
    addresses: openAddressBook({
      allowed: parseCidrs(config.RESOLVER_ALLOW_NETWORKS),
      hosts: config.RESOLVER_HOSTS,
      lookup,
      ownPorts,
    }),
    dialler: openDialler(authorities),
    turns: new Turns(),
    lanes: new Lanes({ width: config.RESOLVER_CONCURRENCY }),
    openCalls: new OpenCalls({ ...broker, log }),
    sockets: openSocketDialler(authorities),
    defaultTimeoutMs: config.RESOLVER_TIMEOUT_MS,
    userAgent: `cloakroom/${version}`,
    clock,
    log,
  }
  return {
    routes: [
      rawRoute(resolveCall, (exchange) => resolve(services, exchange)),
      rawRoute(listDomains, (exchange) => tellDomains(services, exchange)),
      ...forwardCalls.map((endpoint) =>
        rawRoute(endpoint, (exchange) => forward(services, exchange)),
      ),
    ],
    recheck: (workspaceId) => services.openCalls.check(workspaceId),
    close: () => {
      services.openCalls.close()
      services.keys.close()
      services.dialler.close()
    },
  }
}

function readAuthorities(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new ConfigError([
    'RESOLVER_CA_FILE: is not a readable PEM file (example: /etc/cloakroom/ca.pem)',
  ])
}
