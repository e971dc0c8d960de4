/** A server with a workspace that has all credentials, the external APIs, and a shell for each way. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { marked, searchFiles } from '../support/canary.ts'
import { startServer } from '../support/server_process.ts'
import { watched } from '../support/watched.ts'
import { apis, hosts } from './apis/index.ts'
import type { Way } from './client.ts'
import { ADDRESS, type Fakes, FILE, startFakes } from './fakes.ts'
import { Shell } from './shell.ts'

const MAIN = join(import.meta.dir, '../../src/main.ts')
const PASSWORD = 'a long passphrase that stays here'
/** Prefix for a credential of the same form that is for another host. */
export const ELSEWHERE = 'ELSEWHERE_'

export type Stage = {
  fakes: Fakes
  /** The file that is uploaded. */
  file: string
  directory: string
  resolver: string
  token: string
  /** With the port, if it is not that of https. */
  authorityOf(host: string): string
  values: Readonly<Record<string, string>>
  shells: Readonly<Record<Way, Shell>>
  /** Whether the memory of clients is searched, which takes seconds for each. */
  searchesMemory: boolean
  close(): Promise<void>
}

type Options = Pick<Stage, 'searchesMemory'> & {
  /** The port of the external APIs. Programs with a built-in host need 443, which only root may use. */
  port: number
  /** Whether the resolver inserts the values, or the proxy. */
  isRemote?: boolean
}

export async function openStage({
  port,
  isRemote = false,
  searchesMemory,
}: Options): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'cr-clients-'))
  const authority = await createAuthority('Test authority')
  const caFile = join(directory, 'ca.pem')
  writeFileSync(caFile, authority.certificate)
  const file = join(directory, 'file.bin')
  writeFileSync(file, FILE)
  const fakes = await startFakes(authority, port)
  const authorityOf = (host: string) => (fakes.port === 443 ? host : `${host}:${fakes.port}`)
  const networking = {
    RESOLVER_HOSTS: hosts.map((host) => `${host}=${ADDRESS}`).join(','),
    RESOLVER_ALLOW_NETWORKS: `${ADDRESS}/32`,
    RESOLVER_CA_FILE: caFile,
  }
  const server = await startServer({
    ...networking,
    SECRET_KEY: 'test-secret-key-test-secret-key-test',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64url'),
    DATA_DIR: join(directory, 'data'),
  })
  const home = join(directory, 'home')
  mkdirSync(home)
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    XDG_RUNTIME_DIR: home,
    SERVICE_SERVER_URL: server.controlPlane,
    SERVICE_RESOLVER_URL: server.resolver,
  }
  const token = await prepareWorkspace(env, hosts.map(authorityOf))
  const way = isRemote ? ['--remote', '--token', token] : ['--local']
  const proxy = [process.execPath, MAIN, 'proxy', ...way, '--', 'sh']
  const shells = {
    forward: new Shell(['sh'], { PATH: env.PATH, LANG: env.LANG }),
    proxy: new Shell(proxy, { ...env, ...networking }),
  }
  return {
    ...{ fakes, file, directory, token, authorityOf, values, shells, searchesMemory },
    resolver: server.resolver,
    close: async () => {
      for (const shell of Object.values(shells)) await shell.close()
      server.kill('SIGTERM')
      await server.exited
      await fakes.stop()
      searchFiles('state', directory)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const values = Object.fromEntries(
  Object.values(apis)
    .flatMap(({ credentials }) => Object.entries(credentials))
    .flatMap(([name, start]) => [
      [name, sampleOf(name, start)],
      [`${ELSEWHERE}${name}`, sampleOf(name, `${start}${start === 'AKIA' ? 'X' : 'x'}`)],
    ]),
)

/** A key's ID is not a secret, and has its own form. */
function sampleOf(name: string, start: string): string {
  return name === 'AWS_ACCESS_KEY_ID' ? start.padEnd(20, 'Q7Z') : marked(start)
}

/** Sets it up the way a person does; returns the token of an agent. */
async function prepareWorkspace(env: Record<string, string>, domains: string[]): Promise<string> {
  const cloakroom = (args: readonly string[], stdin = '') => run(env, args, stdin)
  await cloakroom(
    ['register', 'ada@example.com', '--password-stdin', '--insecure-storage'],
    `${PASSWORD}\n`,
  )
  await cloakroom(['init', 'matrix'])
  const set = (names: readonly string[], policy: object | null) => {
    const dotenv = names.map((name) => `${name}=${values[name]}\n`).join('')
    const options = ['--from-file', '-', '--sensitive', '--yes', '--policy', JSON.stringify(policy)]
    return cloakroom(['secrets', 'set', ...options], dotenv)
  }
  const groups = Map.groupBy(Object.values(apis), ({ locations = [] }) => locations.join())
  for (const [more, some] of groups) {
    const names = some.flatMap(({ credentials }) => Object.keys(credentials))
    const allowed_locations = ['header', 'basic', 'query', ...more.split(',').filter(Boolean)]
    const elsewhere = { allowed_domains: ['elsewhere.example'], allowed_locations }
    await set(names, more === '' ? null : { allowed_locations })
    await set(
      names.map((name) => `${ELSEWHERE}${name}`),
      elsewhere,
    )
  }
  await cloakroom(['allowlist', 'add', ...domains])
  const agent = await cloakroom(['agent', 'create', 'matrix', '--json'])
  return (JSON.parse(agent) as { token: string }).token
}

async function run(
  env: Record<string, string>,
  args: readonly string[],
  stdin: string,
): Promise<string> {
  const child = watched(
    Bun.spawn([process.execPath, MAIN, ...args], {
      ...{ env, cwd: env.HOME ?? '', stdin: new Blob([stdin]) },
      ...{ stdout: 'pipe', stderr: 'pipe' },
    }),
  )
  const [out, err] = [
    await new Response(child.stdout).text(),
    await new Response(child.stderr).text(),
  ]
  if ((await child.exited) !== 0) throw new Error(`cloakroom ${args.join(' ')}: ${err}`)
  return out
}
