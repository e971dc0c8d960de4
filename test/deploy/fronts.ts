/**
 * The servers in front of Cloakroom, configured the way docs/deploy describes: the real programs, with ports and
 * certificates of the test.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { findProgram, type Need } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { watched } from '../support/watched.ts'

export const VAULT = 'vault.example.com'
export const RESOLVER = 'resolver.example.com'

export type Front = {
  /** Ports of the front; Cloakroom's are given. */
  tls: number
  http: number
  caFile: string
  stop(): Promise<void>
}

type Ports = { tls: number; http: number; controlPlane: string; resolver: string }

/** The program that reads each example. */
const PROGRAMS = {
  'nginx.conf': { program: 'nginx', write: writeNginx },
  Caddyfile: { program: 'caddy', write: writeCaddy },
} as const

export type Example = keyof typeof PROGRAMS
export const EXAMPLES = [
  ['nginx.conf', 'nginx'],
  ['Caddyfile', 'caddy'],
] as const satisfies readonly (readonly [Example, Need])[]

/** @throws Error if the program is not installed or does not start */
export async function startFront(
  example: Example,
  home: string,
  { controlPlane, resolver }: { controlPlane: string; resolver: string },
): Promise<Front> {
  const { program, write } = PROGRAMS[example]
  const found = findProgram(program)
  if (!found) throw new Error(`${program} is not installed`)
  const caFile = await writeCertificate(home)
  const ports = { tls: await freePort(), http: await freePort(), controlPlane, resolver }
  const text = readFileSync(join(import.meta.dir, '../../docs/deploy', example), 'utf8')
  const child = watched(
    Bun.spawn([found, ...write(home, text, ports)], {
      env: { HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  await untilListening(ports.tls, child.exited)
  return {
    tls: ports.tls,
    http: ports.http,
    caFile,
    stop: async () => {
      child.kill()
      await child.exited
    },
  }
}

/** Replaces an expected text, so that the test uses the example itself. */
export function replaced(
  text: string,
  changes: readonly (readonly [from: string, to: string])[],
): string {
  return changes.reduce((given, [from, to]) => {
    if (!given.includes(from)) throw new Error(`the example has no ${from}`)
    return given.replaceAll(from, to)
  }, text)
}

function writeNginx(home: string, example: string, ports: Ports): string[] {
  const site = replaced(example, [
    ['127.0.0.1:8000', new URL(ports.controlPlane).host],
    ['127.0.0.1:8080', new URL(ports.resolver).host],
    ['/etc/ssl/cloakroom', join(home, 'front')],
    ['listen 80;', `listen 127.0.0.1:${ports.http};`],
    ['listen 443 ', `listen 127.0.0.1:${ports.tls} `],
  ])
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const temporary = kinds.map((kind) => `${kind}_temp_path ${home}/${kind};`).join('\n')
  const file = join(home, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${home}/nginx.pid; error_log stderr;
events {}
http { access_log off; ${temporary}
${site}
}`,
  )
  return ['-p', home, '-c', file, '-e', 'stderr']
}

function writeCaddy(home: string, example: string, ports: Ports): string[] {
  const site = replaced(example, [
    ['127.0.0.1:8000', new URL(ports.controlPlane).host],
    ['127.0.0.1:8080', new URL(ports.resolver).host],
    ['tls {', `bind 127.0.0.1\n\ttls ${home}/front.pem ${home}/front.key {`],
  ])
  const file = join(home, 'Caddyfile')
  const ours = `{\n\tadmin off\n\thttp_port ${ports.http}\n\thttps_port ${ports.tls}\n}\n`
  writeFileSync(file, ours + site)
  return ['run', '--adapter', 'caddyfile', '--config', file]
}

async function writeCertificate(home: string): Promise<string> {
  mkdirSync(home, { recursive: true })
  const authority = await createAuthority('Front')
  const { cert, key } = await authority.issue([VAULT, RESOLVER])
  writeFileSync(join(home, 'front.pem'), cert)
  writeFileSync(join(home, 'front.key'), key)
  const caFile = join(home, 'ca.pem')
  writeFileSync(caFile, authority.certificate)
  return caFile
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function untilListening(port: number, exited: Promise<number>): Promise<void> {
  let code: number | undefined
  void exited.then((given) => {
    code = given
  })
  await until(async () => {
    if (code !== undefined) throw new Error(`the front ended with ${code}`)
    const socket = Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
    return await socket.then(
      (open) => {
        open.end()
        return true
      },
      () => false,
    )
  })
}
