/**
 * Makes all agents of Node.js use the proxy. `NODE_USE_ENV_PROXY` does so for its global agent only, and libraries such
 * as AWS's SDK create other agents. A file that is loaded before a program changes these, too.
 */
import { dirname, join } from 'node:path'
import { swapFile } from './authority.ts'

/** Agents of derived classes, such as https-proxy-agent, handle proxies themselves. */
const PRELOAD = `// Written by cloakroom: agents follow HTTPS_PROXY as the global one does (option proxyEnv of Node.js).
const { env: proxyEnv } = require('node:process')
for (const module of [require('node:http'), require('node:https')]) {
  const Agent = new Proxy(module.Agent, {
    apply: (_, self, given) => new Agent(...given),
    construct: (target, [options], made) => {
      const given = made === Agent ? { proxyEnv, ...options } : options
      return Reflect.construct(target, [given], made)
    },
  })
  module.Agent = Agent
  // Gives a request with \`agent: false\` a separate agent.
  Agent.prototype.constructor = Agent
}
require('node:module').syncBuiltinESMExports()
`

/** Appends to an existing `NODE_OPTIONS`. The file is beside the bundle. */
export function nodeEnvironment(
  bundle: string,
  env: Record<string, string | undefined>,
): Record<string, string> {
  const path = join(dirname(bundle), 'node_agents.cjs')
  swapFile(path, PRELOAD, 0o644)
  const quoted = path.replace(/[\\"]/g, '\\$&')
  const given = env.NODE_OPTIONS ? `${env.NODE_OPTIONS} ` : ''
  return { NODE_OPTIONS: `${given}--require "${quoted}"` }
}
