// tier: all
/**
 * Checks every vector in a real browser: with the curves of its Web Crypto, and with the product's own if it has
 * none.
 */
import { expect } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { browserFiles } from '../../src/dev/browser_files.ts'
import { requires } from '../support/requires.ts'
import frozen from '../vectors/frozen-v1.json'
import protocol from '../vectors/protocol-v2.json'
import { sharedBrowser } from './browser.ts'
import type { Outcome } from './vectors/bun_test.ts'

const { test, beforeAll, afterAll } = requires('chromium')

const ROOT = join(import.meta.dir, '..', '..')
const FOLDER = join(import.meta.dir, 'vectors')
/** Vectors for servers only: the outer layer's secrets, and signatures of calls. */
const FOR_SERVERS = ['aws_sigv4a.json', 'azure_storage.json', 'pepper.json']
/** Tests that compare with a second implementation, which only the server's runtime has. */
const WITH_NODE = [
  "envelope > a member's envelope is sealed to the given bytes and opens",
  "envelope > a token's envelope is sealed to the given bytes and opens",
  'a release envelope > a release envelope opens from the bytes of the vector, which an independent implementation sealed',
  'X25519 (RFC 7748, section 6.1)',
  'Argon2id (RFC 9106, section 5.3)',
  'HPKE (RFC 9180 appendix A.1.1) > the reference of these tests reproduces every published intermediate',
]

let server: ReturnType<typeof Bun.serve>
let inputs: string[] = []

beforeAll(async () => {
  const argon2 = await built(join(ROOT, 'src', 'client', 'account', 'argon2_worker.ts'))
  const worker = await built(join(FOLDER, 'worker.ts'), {
    ARGON2_WORKER: JSON.stringify('/console/argon2.js'),
  })
  inputs = Object.keys(worker.metafile?.inputs ?? {})
  const scripts: Record<string, Bun.BuildArtifact | undefined> = {
    '/console/argon2.js': argon2.outputs[0],
    '/console/worker.js': worker.outputs[0],
  }
  const type = { headers: { 'content-type': 'text/javascript' } }
  const page = { headers: { 'content-type': 'text/html' } }
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => {
      const script = scripts[new URL(url).pathname]
      return script ? new Response(script, type) : new Response('<!doctype html>', page)
    },
  })
})
afterAll(async () => {
  await server.stop(true)
})

async function built(entrypoint: string, define: Record<string, string> = {}) {
  return Bun.build({
    entrypoints: [entrypoint],
    target: 'browser',
    format: 'esm',
    metafile: true,
    define,
    plugins: [
      browserFiles,
      {
        name: 'bun-test',
        setup: (build) => {
          build.onResolve({ filter: /^bun:test$/ }, () => ({ path: join(FOLDER, 'bun_test.ts') }))
          build.onResolve({ filter: /^node:crypto$/ }, () => ({ path: join(FOLDER, 'no_node.ts') }))
        },
      },
    ],
  })
}

async function runIn(name: string): Promise<{ outcomes: Outcome[]; asked: number }> {
  const page = await (await sharedBrowser()).newPage()
  await page.goto(server.url.href)
  const said = await page.evaluate(
    (name) =>
      new Promise((resolve, reject) => {
        const worker = new Worker('/console/worker.js', { type: 'module', name })
        worker.onmessage = ({ data }) => resolve(data)
        worker.onerror = ({ message }) => reject(new Error(message))
      }),
    name,
  )
  await page.close()
  return said as { outcomes: Outcome[]; asked: number }
}

const named = [protocol.good, protocol.hostile, frozen.opens, frozen.hostile].flat()

async function holds(name: string, isNative: boolean) {
  const { outcomes, asked } = await runIn(name)
  const failed = outcomes.filter(({ failure }) => failure !== null)
  expect(failed.filter(({ title }) => !WITH_NODE.includes(title))).toEqual([])
  expect(failed).toHaveLength(WITH_NODE.length)
  const passed = outcomes.filter(({ failure }) => failure === null).map(({ title }) => title)
  const missing = named.filter((vector) => !passed.some((title) => title.includes(vector.name)))
  expect(missing.map((vector) => vector.name)).toEqual([])
  expect(asked > 0).toBe(isNative)
}

test('every vector passes with the curves of the browser', () => holds('', true))

test('every vector passes in a browser without X25519 and Ed25519', () => holds('without', false))

test('the browser checks every file of vectors that is not for servers', async () => {
  const files = await readdir(join(ROOT, 'test', 'vectors'))
  const left = files.filter((file) => !inputs.some((input) => input.endsWith(`vectors/${file}`)))
  expect(left.sort()).toEqual(FOR_SERVERS)
})
