/** The local backend with everything that it stands on. */
import { join } from 'node:path'
import { openOutbound } from '../../outbound/index.ts'
import { systemClock } from '../../platform/clock.ts'
import { ConfigError, problemLine } from '../../platform/config/config.ts'
import { settings } from '../../platform/config/settings.ts'
import { systemTimers, type Timers } from '../../platform/timers.ts'
import type { Backend, Notice } from '../backend.ts'
import { OutboxDelivery, type Upload } from '../outbox/delivery.ts'
import { Outbox, type Owner } from '../outbox/outbox.ts'
import { localBackend } from './backend.ts'
import { LiveCalls } from './live_calls.ts'
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
  /** Tests pass their own: the clock that ages what was read, and the timers of everything else. */
  time?: { now(): number; timers: Timers } | undefined
}

/** Milliseconds that the audit gets to reach the server when the proxy ends. */
const LAST_SYNC_MS = 3_000

const networking = settings.pick({
  RESOLVER_ALLOW_NETWORKS: true,
  RESOLVER_HOSTS: true,
  RESOLVER_CA_FILE: true,
  RESOLVER_SILENCE_MS: true,
})

/** @throws ConfigError for a setting that is not valid */
export function openLocalBackend(options: LocalOptions): Backend {
  const { place, owner, upload, directory, notice, time } = options
  const timers = time?.timers ?? systemTimers
  const config = readNetworking(options.env)
  const outbound = openOutbound({ config, clock: systemClock, ownPorts: options.ownPorts })
  const outbox = new Outbox(directory, owner)
  const refusedFile = join(directory, 'refused.jsonl')
  const delivery = new OutboxDelivery(outbox, { upload, notice, refusedFile, timers })
  const vault = new VaultCache(place, time?.now, notice)
  const liveCalls = new LiveCalls({ vault, place }, timers)
  return localBackend({
    vault,
    projectId: place.projectId,
    environment: place.environment,
    outbox,
    outbound,
    liveCalls,
    timers,
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

function readNetworking(env: LocalOptions['env']) {
  const given = Object.fromEntries(
    Object.keys(networking.shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  )
  const parsed = networking.safeParse(given)
  if (parsed.success) return parsed.data
  throw new ConfigError(parsed.error.issues.map((issue) => problemLine(issue)))
}
