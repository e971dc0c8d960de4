/** Settings that a proxy reads from the environment, with the same meaning as for a server. */

import { type BodyMemory, openBodyMemory } from '../core/body_memory.ts'
import { ConfigError, problemLine } from '../core/config/config.ts'
import { settings } from '../core/config/settings.ts'

const ofProxies = settings.pick({
  BODY_MEMORY_MIB: true,
  RESOLVER_ALLOW_NETWORKS: true,
  RESOLVER_HOSTS: true,
  RESOLVER_CA_FILE: true,
  RESOLVER_SILENCE_MS: true,
})

/** @throws ConfigError for a setting that is not valid */
export function readProxySettings(env: Record<string, string | undefined>) {
  const given = Object.fromEntries(
    Object.keys(ofProxies.shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  )
  const parsed = ofProxies.safeParse(given)
  if (parsed.success) return parsed.data
  throw new ConfigError(parsed.error.issues.map((issue) => problemLine(issue)))
}

/** Opens the memory with one owner for all bodies: a proxy serves one person. */
export function openProxyBodies(
  config: Pick<ReturnType<typeof readProxySettings>, 'BODY_MEMORY_MIB'>,
): BodyMemory {
  return openBodyMemory(config, 1)
}

/** Under which a proxy counts all bodies. */
export const PROXY_OWNER = 'local'
