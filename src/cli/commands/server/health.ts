/**
 * `cloakroom health`: asks the listeners of this machine, found through the same settings as the
 * server's, whether they work. For containers that have no other program in them.
 */
import { type Config, ConfigError, readConfig } from '../../../core/config/config.ts'
import { hostToAsk, toDialedAddress } from '../../../core/config/own_address.ts'
import { EX_CONFIG } from '../../../core/exit_codes.ts'
import { complaints } from '../../../core/printable.ts'
import { serverCommand } from '../../command.ts'

type Listener = { name: string; port: number; path: string }

/** Milliseconds; shorter than the time a container engine gives a health check. */
const TIMEOUT_MS = 4_000
const HEALTHY = 'healthy'
const NO_KEYS = { SECRET_KEY: '', ENCRYPTION_KEY: '' }

export default serverCommand({ usage: 'health' }, async ({ env, streams }, isJson) => {
  try {
    const config = readConfig(env, () => NO_KEYS)
    const listeners = listenersOf(config)
    const answers = await Promise.all(listeners.map((listener) => examine(config, listener)))
    const found = listeners.map((listener, index) => ({
      listener: listener.name,
      health: answers[index] ?? '',
      url: urlOf(config, listener),
    }))
    streams.stdout.write(
      isJson ? `${JSON.stringify(found, null, 2)}\n` : found.map(lineOf).join(''),
    )
    return answers.every((answer) => answer === HEALTHY) ? 0 : 1
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    streams.stderr.write(complaints(error.problems))
    return EX_CONFIG
  }
})

function lineOf({ listener, health, url }: { listener: string; health: string; url: string }) {
  return `${listener.padEnd(14)} ${health}${health === HEALTHY ? '' : `: ${url}`}\n`
}

function listenersOf({ ROLE, PORT, RESOLVER_PORT }: Config): Listener[] {
  const controlPlane = { name: 'control plane', port: PORT, path: '/api/status/health/' }
  const resolver = { name: 'resolver', port: RESOLVER_PORT, path: '/healthz' }
  if (ROLE === 'control-plane') return [controlPlane]
  return ROLE === 'resolver' ? [resolver] : [controlPlane, resolver]
}

function examine(config: Config, listener: Listener): Promise<string> {
  return ask(urlOf(config, listener), hostToAsk(config, toDialedAddress(config.HOST)))
}

function urlOf({ HOST }: Config, { port, path }: Listener): string {
  return `http://${toDialedAddress(HOST)}:${port}${path}`
}

async function ask(url: string, host: string): Promise<string> {
  try {
    const response = await fetch(url, {
      headers: { host },
      proxy: false,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await response.body?.cancel()
    return response.ok ? HEALTHY : `unhealthy (status ${response.status})`
  } catch {
    return 'unreachable'
  }
}
