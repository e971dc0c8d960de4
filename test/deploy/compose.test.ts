// tier: all
/**
 * compose.yaml, read by the Compose library and set up by the commands of docs/guides/containers.md. Its Caddy and
 * Cloakroom run with their settings, at their addresses and ports, in namespaces. No container engine is involved.
 */
import { expect } from 'bun:test'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { describeConfig, readConfig } from '../../src/core/config/config.ts'
import { linesOf } from '../docs/blocks.ts'
import { sharedCluster } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { watched } from '../support/watched.ts'
import { BUILD_MS, composeProgram } from './go_programs.ts'
import { inNamespaces } from './namespaces.ts'

const { afterAll, beforeAll, test } = requires('go')

const ROOT = join(import.meta.dir, '..', '..')
const text = readFileSync(join(ROOT, 'compose.yaml'), 'utf8')

const service = z.object({
  image: z.string(),
  environment: z.record(z.string(), z.string()),
  depends_on: z.record(z.string(), z.object({ condition: z.string() }).loose()).optional(),
  networks: z.record(z.string(), z.unknown()),
  ports: z
    .array(
      z
        .object({ target: z.number(), published: z.string(), host_ip: z.string().optional() })
        .loose(),
    )
    .default([]),
  secrets: z.array(z.object({ source: z.string(), target: z.string() })).default([]),
  healthcheck: z
    .object({ test: z.array(z.string()) })
    .loose()
    .optional(),
  read_only: z.literal(true),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
})
const compose = z.object({
  services: z.object({ caddy: service, cloakroom: service, database: service }),
  networks: z.object({
    edge: z.object({ ipam: z.object({ config: z.tuple([z.object({ subnet: z.string() })]) }) }),
    data: z.object({ internal: z.literal(true) }),
  }),
  secrets: z.record(z.string(), z.object({ file: z.string() }).loose()),
})

const place = mkdtempSync(join(tmpdir(), 'cr-compose-'))
let program: string
let resolved: z.infer<typeof compose>
beforeAll(async () => {
  cpSync(join(ROOT, 'compose.yaml'), join(place, 'compose.yaml'))
  setUp()
  program = await composeProgram()
  const { stdout, stderr, success } = read(text)
  if (!success) throw new Error(`${stderr}`)
  resolved = compose.parse(JSON.parse(`${stdout}`))
}, BUILD_MS)
afterAll(() => rmSync(place, { recursive: true, force: true }))

const commands = linesOf('docs/guides/containers.md', 'compose')
const isForCompose = (line: string) => line.startsWith('docker compose ')

/** The commands that prepare the start. A script replaces `docker`: its image is the program from source. */
function setUp(): void {
  const lines = commands.filter((line) => !isForCompose(line))
  const bin = join(place, 'bin')
  mkdirSync(bin)
  const run = `exec ${process.execPath} ${join(ROOT, 'src/main.ts')} "$@"`
  const docker = `#!/bin/sh\necho "$*" >>${join(place, 'docker.log')}
[ "$1 $2 $3" != 'run --rm cloakroom' ] || { shift 3; ${run}; }\n`
  writeFileSync(join(bin, 'docker'), docker)
  chmodSync(join(bin, 'docker'), 0o755)
  const PATH = `${bin}:${process.env.PATH}`
  const child = watched(
    Bun.spawnSync(['sh', '-euc', lines.join('\n')], {
      cwd: place,
      env: { ...process.env, PATH },
    }),
  )
  if (!watched(child).success) throw new Error(`${child.stderr}`)
}

/** Checked with the schema of Compose, with variables from .env, because the library's program has none. */
function read(file: string, folder = place) {
  const given = readFileSync(join(folder, '.env'), 'utf8').matchAll(/^(\w+)=(.*)$/gm)
  const env = Object.fromEntries([...given].map(([, name = '', value = '']) => [name, value]))
  const filled = file.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name, kind, rest) => {
    if (env[name]) return env[name]
    if (kind === '-') return rest
    throw new Error(`${name}: ${rest}`)
  })
  writeFileSync(join(folder, 'compose.yaml'), filled)
  const command = [program, '-format', 'json', '-no-interpolation', 'compose.yaml']
  return watched(Bun.spawnSync(command, { cwd: folder, stdout: 'pipe', stderr: 'pipe' }))
}

test('the commands of the page create the key files, and only their owner can read them', () => {
  expect(readdirSync(join(place, 'secrets')).sort()).toEqual([
    'CRON_SECRET',
    'DB_PASSWORD',
    'ENCRYPTION_KEY',
    'SECRET_KEY',
  ])
  expect(statSync(join(place, 'secrets')).mode & 0o777).toBe(0o700)
  expect(readFileSync(join(place, 'docker.log'), 'utf8').split('\n')).toEqual([
    'build -t cloakroom .',
    'run --rm cloakroom keygen',
    '',
  ])
})

test('the Compose library accepts the file, and rejects files that are not Compose', () => {
  const folder = mkdtempSync(join(place, 'other-'))
  cpSync(join(place, '.env'), join(folder, '.env'))
  expect(read(text, folder).success).toBe(true)
  expect(`${read(text.replace('read_only: true', 'readonly: true'), folder).stderr}`).toContain(
    'readonly',
  )
  expect(
    read(text.replace('condition: service_healthy', 'condition: healthy'), folder).success,
  ).toBe(false)
  writeFileSync(join(folder, '.env'), '')
  expect(() => read(text, folder)).toThrow('VAULT_HOST: the name of the control plane')
})

test("the server's variables are settings, all that production needs, and contain no secret", () => {
  const { cloakroom, database } = resolved.services
  const known = describeConfig()
  const names = known.flatMap(({ name, file }): string[] => (file ? [name, file] : [name]))
  const given = Object.keys(cloakroom.environment)
  expect(given.filter((name) => !names.includes(name) && !/_HOST$/.test(name))).toEqual([])
  expect(given.filter((name) => known.some((it) => it.name === name && it.file))).toEqual([])
  const config = readConfig(fromFiles(cloakroom.environment), () => {
    throw new Error('production makes no keys for itself')
  })
  expect(config).toMatchObject({
    SERVICE_SETTINGS: 'production',
    ALLOWED_HOSTS: ['vault.example.com', 'resolver.example.com'],
    SERVICE_SERVER_URL: 'https://vault.example.com',
    DB_NAME: database.environment.POSTGRES_DB ?? '',
    DB_USER: database.environment.POSTGRES_USER ?? '',
    DB_HOST: 'database',
  })
  expect(database.environment.POSTGRES_PASSWORD_FILE).toBe(cloakroom.environment.DB_PASSWORD_FILE)
})

/** `/run/secrets/NAME`, at the test's path. */
function fromFiles(env: Record<string, string>): Record<string, string> {
  const secrets = Object.entries(env).map(([name, value]) => [
    name,
    value.replace('/run/secrets', join(place, 'secrets')),
  ])
  return Object.fromEntries(secrets)
}

test('each service waits for a healthy one; only Caddy is published; the database is unreachable for it', () => {
  const { caddy, cloakroom, database } = resolved.services
  expect(caddy.depends_on?.cloakroom?.condition).toBe('service_healthy')
  expect(cloakroom.depends_on?.database?.condition).toBe('service_healthy')
  expect([caddy.healthcheck, database.healthcheck]).not.toContain(undefined)
  // The image's value counts.
  expect(cloakroom.healthcheck).toBeUndefined()
  expect(caddy.ports.map(({ published, target }) => [published, target])).toEqual([
    ['80', 80],
    ['443', 443],
  ])
  expect([cloakroom.ports, database.ports]).toEqual([[], []])
  expect([caddy, cloakroom, database].map(({ networks }) => Object.keys(networks).sort())).toEqual([
    ['edge'],
    ['data', 'edge'],
    ['data'],
  ])
  expect(Number(/^postgres:(\d+)/.exec(database.image)?.[1])).toBeGreaterThanOrEqual(15)
})

test('only the network of Caddy is a trusted proxy', () => {
  const [{ subnet }] = resolved.networks.edge.ipam.config
  expect(resolved.services.cloakroom.environment.TRUSTED_PROXIES).toBe(subnet)
  const { stdout } = read(text, other('EDGE_NETWORK=10.9.8.0/24'))
  const moved = compose.parse(JSON.parse(`${stdout}`))
  expect(moved.networks.edge.ipam.config[0].subnet).toBe('10.9.8.0/24')
  expect(moved.services.cloakroom.environment.TRUSTED_PROXIES).toBe('10.9.8.0/24')
})

function other(line: string): string {
  const folder = mkdtempSync(join(place, 'other-'))
  writeFileSync(join(folder, '.env'), `${readFileSync(join(place, '.env'), 'utf8')}${line}\n`)
  return folder
}

/** Its names, addresses and ports, in a network where clients have others. A function replaces `docker`. */
const lifeOf = (health: string) => `
ip link set lo up
for address in 172.30.80.2 192.0.2.1 192.0.2.7 192.0.2.8; do ip address add $address/32 dev lo || exit 1; done
printf '127.0.0.1 localhost\\n172.30.80.2 cloakroom\\n192.0.2.1 vault.example.com resolver.example.com\\n' >$place/hosts
mount --bind $place/hosts /etc/hosts
mount -t tmpfs run /run && mkdir /run/secrets && mount --bind $place/secrets /run/secrets
mount -t tmpfs state /var/lib && mkdir /var/lib/cloakroom
cd /
server() { env -i $(cat $place/server.env) HOST=0.0.0.0 HOME=$place $bun --config=/dev/null --no-env-file $main "$@"; }
root=$place/caddy/caddy/pki/authorities/local/root.crt
docker() {
  case "$*" in
    'compose up -d --wait') up ;;
    'compose exec cloakroom cloakroom '*) shift 4; server "$@" ;;
    *) echo "docker $* is unknown"; exit 1 ;;
  esac
}
up() {
  server serve >$place/server.log 2>&1 & serving=$!
  until server health >$place/health; do kill -0 $serving || { cat $place/server.log; exit 1; }; sleep 0.2; done
  { printf '{\\n\\tlocal_certs\\n\\tskip_install_trust\\n}\\n'; cat $caddyfile; } >$place/Caddyfile
  env -i $(cat $place/caddy.env) HOME=$place XDG_DATA_HOME=$place/caddy $caddy run --adapter caddyfile --config $place/Caddyfile >$place/caddy.log 2>&1 & fronting=$!
  until curl -s --cacert $root https://vault.example.com/api/status/ >$place/status; do
    kill -0 $fronting || { cat $place/caddy.log; exit 1; }; sleep 0.2
  done
}
echo '>> self-check'
${commands.filter(isForCompose).join('\n')}
echo $?
echo '>> health'; cat $place/health
echo '>> caddy health'; ${health}; echo $?
ask() { curl -s --cacert $root -o /dev/null -w '%{http_code}\\n' "$@"; }
echo '>> console'; ask --retry 9 https://vault.example.com/console/
echo '>> resolver'; ask https://resolver.example.com/healthz
echo '>> without TLS'; ask http://vault.example.com/console/
echo '>> other name'; ask -H 'Host: elsewhere.example.com' http://cloakroom:8000/api/status/
login() { ask --json '{"email":"a@b.example"}' https://vault.example.com/api/auth/prelogin/ "$@"; }
echo '>> one client'; for n in 1 2 3; do login --interface 192.0.2.7; done
echo '>> another client'; login --interface 192.0.2.8
echo '>> a client that says it is another'; login --interface 192.0.2.7 -H 'X-Forwarded-For: 192.0.2.9'
kill -TERM $fronting $serving; wait $serving; echo '>> code'; echo $?
echo '>> end'
`

{
  const { describe, test, beforeAll } = requires(
    'go',
    'postgresql',
    'network-namespaces',
    'caddy',
    'curl',
  )
  describe('Caddy and Cloakroom as it configures them', () => {
    let said: Record<string, string[]>
    beforeAll(async () => {
      const { socketDir, createDatabase } = await sharedCluster()
      const { caddy, cloakroom } = resolved.services
      const database = { DB_HOST: socketDir, DB_NAME: await createDatabase() }
      const lines = (env: Record<string, string>) =>
        Object.entries(env)
          .map(([name, value]) => `${name}=${value}\n`)
          .join('')
      const server = { ...cloakroom.environment, ...database, RATE_LOGIN: '2/3600' }
      writeFileSync(join(place, 'server.env'), lines(server))
      writeFileSync(join(place, 'caddy.env'), lines(caddy.environment))
      const [, ...health] = caddy.healthcheck?.test ?? []
      writeFileSync(join(place, 'script'), lifeOf(health.join(' ')))
      said = await inNamespaces(join(place, 'script'), {
        PATH: `${process.env.PATH}:/usr/sbin`,
        place,
        bun: process.execPath,
        main: join(ROOT, 'src/main.ts'),
        caddy: 'caddy',
        caddyfile: join(ROOT, 'docs/deploy/Caddyfile'),
      })
    }, 60_000)

    test('Caddy and Cloakroom are healthy by their health checks', () => {
      expect(said.health).toEqual(['control plane  healthy', 'resolver       healthy'])
      expect(said['caddy health']).toEqual(['0'])
      const [code, ...checks] = said['self-check']?.toReversed() ?? []
      const isOk = (line: string) => /^ok +[a-z]+/.test(line)
      expect([code, checks.filter(isOk).length > 5]).toEqual(['0', true])
      // The page says to ignore these.
      const others = checks.filter((line) => !isOk(line) && !line.includes('every user of this'))
      expect(others).toEqual([])
      expect(said.code).toEqual(['0'])
    })

    test('both names answer on 443, port 80 redirects there, and other names get no answer', () => {
      expect([said.console, said.resolver, said['without TLS'], said['other name']]).toEqual([
        ['200'],
        ['200'],
        ['308'],
        ['400'],
      ])
    })

    test('a limit counts the client and not Caddy, whatever headers the client sends', () => {
      expect(said['one client']).toEqual(['200', '200', '429'])
      expect(said['another client']).toEqual(['200'])
      expect(said['a client that says it is another']).toEqual(['429'])
    })
  })
}
