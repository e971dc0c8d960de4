/**
 * The ports of this product on this machine, as configured: those of every worker and of processes with
 * another ROLE too, so that no process of it can be led to another's listener.
 */
import type { Config } from '../core/config/config.ts'

type Ports = Pick<Config, 'PORT' | 'RESOLVER_PORT' | 'ADMIN_PORT' | 'WORKERS'>

/** Workers count for themselves: each has a port of its own for its figures, from ADMIN_PORT on. */
export function adminPortOf({ ADMIN_PORT }: Pick<Ports, 'ADMIN_PORT'>, worker: number) {
  return ADMIN_PORT === undefined ? undefined : ADMIN_PORT + worker
}

/** Without those that the system picks. */
export function configuredPorts(config: Ports): number[] {
  const { PORT, RESOLVER_PORT, ADMIN_PORT, WORKERS } = config
  const admin =
    ADMIN_PORT === undefined || ADMIN_PORT === 0
      ? []
      : Array.from({ length: WORKERS }, (_, worker) => ADMIN_PORT + worker)
  return [PORT, RESOLVER_PORT, ...admin].filter((port) => port !== 0)
}
