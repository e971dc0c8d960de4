/** The container files: what they set must be settings, and what they promise must be in them. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import project from '../../package.json'
import { documentConfig, readConfig } from '../../src/platform/config/config.ts'
import { generateKeys } from '../../src/server/own_keys.ts'

const ROOT = join(import.meta.dir, '..', '..')
const read = (name: string) => Bun.file(join(ROOT, name)).text()

type Service = {
  image: string
  environment: Record<string, string>
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { test: string[] }
  ports?: string[]
}
type Compose = { services: { database: Service; cloakroom: Service } }

/** `${NAME:-fallback}` where NAME is not set. */
function withDefaults(environment: Record<string, string>): Record<string, string> {
  const filled = (text: string) => text.replace(/\$\{[A-Z_]+:-([^}]*)\}/g, '$1')
  return Object.fromEntries(Object.entries(environment).map(([name, it]) => [name, filled(it)]))
}

async function readCompose(): Promise<Compose> {
  return Bun.YAML.parse(await read('compose.yaml')) as Compose
}

const settings = new Set(
  [...documentConfig().matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name),
)

test('every variable that compose.yaml gives to the server is a setting', async () => {
  const { cloakroom } = (await readCompose()).services
  expect(settings.size).toBeGreaterThan(20)
  expect(Object.keys(cloakroom.environment).filter((name) => !settings.has(name))).toEqual([])
})

test('compose.yaml and the lines of keygen are all that production needs', async () => {
  const { cloakroom, database } = (await readCompose()).services
  const env = { ...withDefaults(cloakroom.environment), ...generateKeys() }
  const config = readConfig(env, () => {
    throw new Error('production makes no keys for itself')
  })
  expect(config).toMatchObject({
    SERVICE_SETTINGS: 'production',
    DB_HOST: 'database',
    DB_SSLMODE: 'disable',
  })
  const { POSTGRES_DB, POSTGRES_USER, POSTGRES_PASSWORD } = withDefaults(database.environment)
  expect([config.DB_NAME, config.DB_USER, config.DB_PASSWORD]).toEqual([
    POSTGRES_DB,
    POSTGRES_USER,
    POSTGRES_PASSWORD,
  ])
})

test('the server waits for a healthy database, and is published to this machine only', async () => {
  const { cloakroom, database } = (await readCompose()).services
  expect(Number(/^postgres:(\d+)/.exec(database.image)?.[1])).toBeGreaterThanOrEqual(15)
  expect(database.healthcheck?.test).toContain('pg_isready')
  expect(cloakroom.depends_on).toEqual({ database: { condition: 'service_healthy' } })
  expect(cloakroom.ports).toEqual(['127.0.0.1:8000:8000', '127.0.0.1:8080:8080'])
})

test('the image is built by the Bun of the lockfile and has nothing but the executable in it', async () => {
  const dockerfile = await read('Dockerfile')
  const [, build = '', final = ''] = dockerfile.split(/^FROM /m)
  expect(build).toStartWith(`oven/bun:${project.devDependencies.bun} AS build`)
  const lines = final.split('\n')
  expect(lines.filter((line) => /^(RUN|ADD)\b/.test(line))).toEqual([])
  expect(lines.filter((line) => line.startsWith('COPY')).length).toBe(2)
  expect(lines).toContain('USER 65532:65532')
  expect(lines).toContain('EXPOSE 8000 8080')
  expect(lines.join('\n')).toMatch(/^HEALTHCHECK .* CMD \["cloakroom", "health"\]$/m)
  const [, volume] = /^VOLUME (\S+)$/m.exec(final) ?? []
  expect(final).toContain(`ENV HOST=0.0.0.0 DATA_DIR=${volume}`)
})

test('a .env never reaches the builder', async () => {
  const rules = (await read('.dockerignore')).split('\n').filter((line) => !line.startsWith('#'))
  expect(rules[0]).toBe('*')
  expect(rules.slice(1).filter((rule) => /env|^!\*/.test(rule))).toEqual([])
})
