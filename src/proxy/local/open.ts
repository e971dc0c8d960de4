/** Opens the local backend and everything it needs. */
import { join } from 'node:path'
import { systemTimers, type Timers } from '../../core/async/timers.ts'
import { systemClock } from '../../core/clock.ts'
import { openOutbound } from '../../outbound/index.ts'
import type { Backend, ProxyNotice } from '../backend.ts'
import { OutboxDelivery, type Upload } from '../outbox/delivery.ts'
import { Outbox, type OutboxOwner } from '../outbox/outbox.ts'
import { openProxyBodies, readProxySettings } from '../settings.ts'
import { createLocalBackend } from './backend.ts'
import { LocalDerivation } from './derivation.ts'
import { LocalLiveCalls } from './live_calls.ts'
import { VaultCache, type VaultPlace } from './vault_snapshot.ts'

export type LocalOptions = {
  place: VaultPlace
  owner: OutboxOwner
  upload: Upload
  /** The folder of the waiting audit records. */
  directory: string
  /** Settings, with the same meaning as in a resolver (settings.ts). */
  env: Record<string, string | undefined>
  /** Ports of this machine that may not be connected to: the proxy's own. */
  ownPorts: () => readonly number[]
  notice: ProxyNotice
  /** Set only by tests: the clock that ages cached data, and the timers of everything else. */
  time?: { now(): number; timers: Timers } | undefined
}

/** Milliseconds that the audit gets to reach the server when the proxy ends. */
const LAST_SYNC_MS = 3_000

/** @throws ConfigError for a setting that is not valid */
export function openLocalBackend(options: LocalOptions): Backend {
  const { place, owner, upload, directory, notice, time } = options
  const timers = time?.timers ?? systemTimers
  const config = readProxySettings(options.env)
  const outbound = openOutbound({ config, clock: systemClock, ownPorts: options.ownPorts })
  const outbox = new Outbox(directory, owner)
  const refusedFile = join(directory, 'refused.jsonl')
  const delivery = new OutboxDelivery(outbox, { upload, notice, refusedFile, timers })
  const derivation = new LocalDerivation(outbound, time?.now)
  const vault = new VaultCache(place, time?.now, notice, derivation)
  const liveCalls = new LocalLiveCalls({ vault, place }, timers)
  return createLocalBackend({
    vault,
    projectId: place.projectId,
    environment: place.environment,
    outbox,
    outbound,
    liveCalls,
    timers,
    bodies: openProxyBodies(config),
    timeoutMs: config.RESOLVER_SILENCE_MS,
    close: async () => {
      liveCalls.close()
      outbound.fetcher.close()
      outbound.http2.close()
      await delivery.stop(LAST_SYNC_MS)
      await outbox.close()
    },
  })
}
