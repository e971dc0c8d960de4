/** Creates the services of a process's outbound calls from the operator's settings. */
import { version } from '../../package.json'
import type { Clock } from '../core/clock.ts'
import { readAuthorities } from '../core/config/authorities.ts'
import type { Config } from '../core/config/config.ts'
import { parseCidrs } from '../core/net/cidr.ts'
import { type Lookup, openAddressLookup, systemLookup } from './connection/address_lookup.ts'
import { openDial } from './connection/dial.ts'
import { openFetcher } from './connection/fetch.ts'
import type { Outbound } from './execute.ts'
import { openHttp2Connector } from './http2/connect.ts'
import { fetcherOfBoth } from './http2/only_http2.ts'
import { Scheduler } from './scheduler.ts'
import { Steps } from './steps.ts'
import { openSocketConnector } from './websocket/connect.ts'
import { FRAMES_PER_TURN } from './websocket/frame_weight.ts'

/** The default for callers that set no user agent. */
export const USER_AGENT = `cloakroom/${version}`

type Options = {
  config: Pick<Config, 'RESOLVER_ALLOW_NETWORKS' | 'RESOLVER_HOSTS' | 'RESOLVER_CA_FILE'>
  clock: Clock
  lookup?: Lookup | undefined
  /** Ports of this machine that may not be connected to: the product's own. */
  ownPorts: () => readonly number[]
}

/** @throws ConfigError when RESOLVER_CA_FILE cannot be read */
export function openOutbound({ config, clock, lookup, ownPorts }: Options): Outbound {
  const authorities = readAuthorities(config.RESOLVER_CA_FILE)
  const dial = openDial(authorities)
  const frames = new Scheduler(FRAMES_PER_TURN)
  const http2 = openHttp2Connector(dial, frames)
  return {
    addresses: openAddressLookup({
      allowed: parseCidrs(config.RESOLVER_ALLOW_NETWORKS),
      hosts: config.RESOLVER_HOSTS,
      lookup: lookup ?? systemLookup,
      ownPorts,
      clock,
    }),
    fetcher: fetcherOfBoth({ fetcher: openFetcher(authorities), http2, dial, clock }),
    sockets: openSocketConnector(dial),
    http2,
    steps: new Steps(),
    frames,
    userAgent: USER_AGENT,
    clock,
  }
}
