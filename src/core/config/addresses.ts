/** The addresses of both listeners: as configured, else on this machine. */
import type { Config } from './config.ts'

type Set = Pick<Config, 'SERVICE_SERVER_URL' | 'SERVICE_RESOLVER_URL' | 'PORT' | 'RESOLVER_PORT'>

export function addressesOf({
  SERVICE_SERVER_URL,
  SERVICE_RESOLVER_URL,
  PORT,
  RESOLVER_PORT,
}: Set) {
  return {
    server: SERVICE_SERVER_URL ?? `http://localhost:${PORT}`,
    resolver: SERVICE_RESOLVER_URL ?? `http://localhost:${RESOLVER_PORT}`,
  }
}
