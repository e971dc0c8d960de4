// tier: quick
/** Agents of Node.js that libraries create themselves, such as AWS's SDK, use the proxy like the global one. */
import { expect } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeEnvironment } from '../../src/proxy/node_agents.ts'
import { requires } from '../support/requires.ts'
import { watched } from '../support/watched.ts'

const { test } = requires('node')

const PROGRAM = `
import { Agent } from 'node:https'
import https from 'node:https'
import http from 'node:http'
import { createRequire } from 'node:module'
class Own extends https.Agent {}
const required = createRequire(import.meta.url)('https').Agent
const isTold = (agent) => agent.options.proxyEnv === process.env
console.log(JSON.stringify({
  made: [new Agent({ keepAlive: true }), new http.Agent(), https.Agent({}), new required()].map(isTold),
  ofRequest: isTold(new https.globalAgent.constructor()),
  kept: new Agent({ keepAlive: true }).keepAlive,
  own: [isTold(new Own()), new Agent({ proxyEnv: undefined }).options.proxyEnv ?? null],
  kinds: [new Own() instanceof https.Agent, new Agent() instanceof https.Agent, https.globalAgent instanceof https.Agent],
  title: process.title,
}))
`

test('Node.js agents use the proxy, however they are imported, and other classes are unchanged', async () => {
  const directory = join(mkdtempSync(join(tmpdir(), 'cr-node-')), 'a "folder" of mine')
  mkdirSync(directory)
  const program = join(directory, 'program.mjs')
  await Bun.write(program, PROGRAM)
  const env = nodeEnvironment(join(directory, 'bundle.pem'), { NODE_OPTIONS: '--title=theirs' })
  const { PATH = '' } = process.env
  const child = watched(
    Bun.spawn(['node', program], { env: { PATH, ...env }, stdout: 'pipe', stderr: 'pipe' }),
  )
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  expect(err).toBe('')
  expect(JSON.parse(out)).toEqual({
    made: [true, true, true, true],
    // In the form that `agent: false` creates (node:_http_client).
    ofRequest: true,
    kept: true,
    own: [false, null],
    kinds: [true, true, true],
    title: 'theirs',
  })
  rmSync(join(directory, '..'), { recursive: true })
})
