/**
 * Checks that the ports are available before the database is opened, so that a failing start does not migrate. Each
 * port is opened exclusively for a moment, which also picks a free one for 0.
 */
import { type AddressInfo, createServer, Server } from 'node:net'
import { type Config, ConfigError } from '../core/config/config.ts'

type Ports = Pick<Config, 'HOST' | 'PORT' | 'RESOLVER_PORT' | 'ADMIN_PORT' | 'ROLE' | 'WORKERS'>
type Variable = 'PORT' | 'RESOLVER_PORT' | 'ADMIN_PORT'

/** Ports that another program uses, one line for each. */
export class PortsTaken extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'PortsTaken'
    this.problems = problems
  }
}

/**
 * The ports to open by variable, for the listeners of ROLE.
 *
 * @throws PortsTaken, and ConfigError where HOST is no address of this machine
 */
export async function claimPorts(config: Ports): Promise<Partial<Record<Variable, number>>> {
  const claimed: Partial<Record<Variable, number>> = {}
  const problems: string[] = []
  const held: Server[] = []
  try {
    for (const [variable, port] of listWantedPorts(config)) {
      const outcome = await takeAlone(config.HOST, port)
      if (outcome instanceof Server) claimed[variable] ??= portOf(outcome)
      if (outcome instanceof Server) held.push(outcome)
      else problems.push(problemOf(variable, port, outcome.code))
    }
  } finally {
    // Release the ports only now: a free port could otherwise be picked twice.
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))))
  }
  if (problems.length > 0) throw new PortsTaken(problems)
  return claimed
}

/** Workers share all ports except those of their metrics. */
function listWantedPorts(config: Ports): [Variable, number][] {
  const { PORT, RESOLVER_PORT, ADMIN_PORT, ROLE, WORKERS } = config
  const admin = ADMIN_PORT === undefined ? [] : Array.from({ length: WORKERS }, (_, at) => at)
  return [
    ...(ROLE === 'resolver' ? [] : [['PORT', PORT] as [Variable, number]]),
    ...(ROLE === 'control-plane' ? [] : [['RESOLVER_PORT', RESOLVER_PORT] as [Variable, number]]),
    ...admin.map((at): [Variable, number] => ['ADMIN_PORT', (ADMIN_PORT ?? 0) + at]),
  ]
}

/** Returns the server on the port, or the system's error code, which is empty for a name without an address. */
function takeAlone(host: string, port: number): Promise<Server | { code: string }> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', (error) => resolve({ code: 'code' in error ? String(error.code) : '' }))
    server.listen({ host, port, exclusive: true }, () => resolve(server))
  })
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

function problemOf(variable: Variable, port: number, code: string): string {
  if (code === 'EADDRINUSE')
    return `${variable}: port ${port} is in use by another program; set another, or 0 for a free one (example: ${variable}=${port < 65_535 ? port + 1 : 8000})`
  if (code === 'EACCES' || code === 'EPERM')
    return `${variable}: port ${port} needs a privilege that this user does not have (${code}); set one above 1023 (example: ${variable}=8000)`
  throw new ConfigError(['HOST: is not an address of this machine (example: 0.0.0.0)'])
}
