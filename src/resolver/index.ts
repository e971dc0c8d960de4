/** The resolver's parts, put together. */
import { existsSync, readFileSync } from 'node:fs'
import { version } from '../../package.json'
import type { Access } from '../access/index.ts'
import { type Lookup, openAddressLookup, systemLookup } from '../outbound/address_lookup.ts'
import { openFetcher } from '../outbound/fetch.ts'
import { openSocketConnector } from '../outbound/websocket_connect.ts'
import { ConfigError } from '../platform/config/config.ts'
import { type Route, rawRoute } from '../platform/http/serve.ts'
import { parseCidrs } from '../platform/net/cidr.ts'
import type { FeatureServices } from '../platform/services.ts'
import { tellDomains } from './allowlist.ts'
import { Bulkheads } from './bulkhead.ts'
import { forwardCalls, listDomains, resolveCall } from './contract.ts'
import { forward } from './forward.ts'
import { LiveCalls } from './live_calls.ts'
import { resolve } from './resolve.ts'
import { Scheduler } from './scheduler.ts'
import type { ResolverServices } from './services.ts'

export type Resolver = {
  routes: Route[]
  /** The policy of a workspace changed, or may have in any: what is open is judged again. */
  recheck(workspaceId?: string): void
  close(): void
}

type Options = {
  access: Access
  ownPorts: () => readonly number[]
  lookup?: Lookup | undefined
}

/** @throws ConfigError when RESOLVER_CA_FILE cannot be read */
export function openResolver(
  { config, clock, log }: FeatureServices,
  { access, ownPorts, lookup = systemLookup }: Options,
): Resolver {
  const authorities = readAuthorities(config.RESOLVER_CA_FILE)
  const services: ResolverServices = {
    ...access,
    addresses: openAddressLookup({
      allowed: parseCidrs(config.RESOLVER_ALLOW_NETWORKS),
      hosts: config.RESOLVER_HOSTS,
      lookup,
      ownPorts,
    }),
    fetcher: openFetcher(authorities),
    scheduler: new Scheduler(),
    bulkheads: new Bulkheads({ width: config.RESOLVER_CONCURRENCY }),
    liveCalls: new LiveCalls({ ...access, log }),
    sockets: openSocketConnector(authorities),
    defaultTimeoutMs: config.RESOLVER_TIMEOUT_MS,
    userAgent: `cloakroom/${version}`,
    clock,
    log,
  }
  return {
    routes: [
      rawRoute(resolveCall, (context) => resolve(services, context)),
      rawRoute(listDomains, (context) => tellDomains(services, context)),
      ...forwardCalls.map((endpoint) =>
        rawRoute(endpoint, (context) => forward(services, context)),
      ),
    ],
    recheck: (workspaceId) => services.liveCalls.check(workspaceId),
    close: () => {
      services.liveCalls.close()
      services.keys.close()
      services.fetcher.close()
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
