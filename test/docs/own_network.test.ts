// tier: all
/** Executes the commands of docs/guides/self-hosting.md, "APIs on your own machine or network". */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { executable } from '../binary/executable.ts'
import { KEYS } from '../binary/scene.ts'
import { openAccount, type Terminal } from '../cli/person.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { answerOf, startUpstream, type Upstream } from '../support/upstream.ts'
import { watched } from '../support/watched.ts'
import { scriptOf } from './blocks.ts'

const server = scriptOf('docs/guides/self-hosting.md', 'server')
const client = scriptOf('docs/guides/self-hosting.md', 'client')

let place = ''
let database: TestDatabase
let upstream: Upstream
let ada: Terminal
let running: ReturnType<typeof startAsDocumented>

beforeAll(async () => {
  await executable()
  place = mkdtempSync(join(tmpdir(), 'cr-own-'))
  database = await freshDatabase()
  const authority = await createAuthority('Internal authority')
  writeFileSync(join(place, 'ca.pem'), authority.certificate)
  upstream = await startUpstream(authority, { names: ['billing.internal'] })
  upstream.on('/invoices', answerOf(200, { 'content-type': 'text/plain' }, 'three\n'))
}, 60_000)
afterAll(async () => {
  ada.remove()
  running.kill('SIGTERM')
  await running.exited
  await upstream.stop()
  database.remove()
  rmSync(place, { recursive: true, force: true })
}, 60_000)

/** Replaces the path of the authority and the port of the API by those of the test. */
function placed(script: string): string {
  const here = script.replace('/etc/cloakroom/internal-ca.pem', join(place, 'ca.pem'))
  return here.replaceAll(':8443', `:${upstream.port}`)
}

function startAsDocumented(PATH: string) {
  const script = placed(server).replace(/^cloakroom/m, 'exec cloakroom')
  return watched(
    Bun.spawn(['sh', '-c', script], {
      cwd: place,
      env: { ...KEYS, ...database.env, PATH, PORT: '0', RESOLVER_PORT: '0' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
}

async function addressesOf({ stdout }: typeof running) {
  const reader = stdout.getReader()
  let banner = ''
  while (!banner.includes('Stop: Ctrl-C')) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the server ended after: ${banner}`)
    banner += new TextDecoder().decode(value)
  }
  const [controlPlane = '', resolver = ''] = banner.match(/http:\S+:\d+$/gm) ?? []
  return { controlPlane, resolver }
}

test('the commands of the page call an API on this machine', async () => {
  running = startAsDocumented(`${dirname(await executable())}:${process.env.PATH}`)
  ada = await openAccount(await addressesOf(running), 'ada@example.com')
  await ada.must('init', 'billing')
  const { token } = (await ada.json('agent', 'create', 'bot')) as { token: string }
  const lines = placed(client).trim().split('\n')
  expect(lines).toHaveLength(3)
  const outputs: string[] = []
  for (const line of lines) {
    const ran = await ada.shell(line, { SERVICE_TOKEN: token })
    expect({ line, ...ran }).toMatchObject({ line, code: 0, err: '' })
    outputs.push(ran.out)
  }
  expect(outputs.at(-1)).toBe('three\n')
  expect(upstream.received.map((request) => request.header('authorization'))).toEqual([
    'Bearer bk_live_1',
  ])
}, 120_000)
