/** Where the two listeners are reached, as the operator has set it; else on the machine itself. */
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
