// tier: all
/**
 * The documented command lines, typed into a shell as the documents have them, with the compiled program. The
 * passphrase of a machine costs 0.3 s in each command.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openTerminal, type Terminal } from '../cli/person.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { requires } from '../support/requires.ts'
import { linesOf } from './blocks.ts'
import { PASSPHRASE, typeLines } from './typing.ts'

let app: TestApp
let person: Terminal

beforeAll(async () => {
  app = await sharedApp()
  person = await openTerminal(app)
  person.write('password.txt', 'a long passphrase that stays here\n')
  await typeLines(person, ['cloakroom register ada@example.com --password-stdin < password.txt'])
}, 60_000)
afterAll(() => {
  person.remove()
})

const reveal = async (line: string) => (await person.shell(line, PASSPHRASE)).out

test('the examples of the secrets guide work line by line', async () => {
  person.write('.env', 'FROM_FILE=1\n')
  person.write('app.conf.tpl', 'url = {{ DATABASE_URL }}\n')
  const lines = linesOf('docs/guides/secrets.md', 'tour')
  expect(lines.length).toBeGreaterThan(25)
  await typeLines(person, lines)
  expect(await reveal('cat app.conf')).toBe('url = postgres://app:hunter2@db.internal/app\n')
  expect(await reveal('cat container.env')).toContain('FROM_FILE=1\n')
}, 120_000)

test('the examples of the access guide work line by line, after those of the secrets guide', async () => {
  const lines = linesOf('docs/guides/access.md', 'tour')
  expect(lines.length).toBeGreaterThan(14)
  await typeLines(person, lines)
  const policy = await reveal('cloakroom policy show STRIPE_KEY')
  expect(policy).toContain('only GET or POST to api.stripe.com, in a header')
  const hosts = await reveal('cloakroom allowlist list')
  for (const host of ['api.stripe.com', 'api.github.com', '*.example.com'])
    expect(hosts).toContain(host)
  expect(hosts).not.toContain('api.internal')
  const tokens = JSON.parse(await reveal('cloakroom token list build-bot --json'))
  expect(tokens).toMatchObject([
    { label: 'default', status: 'active' },
    { label: 'nightly', status: 'revoked' },
    { hosts: ['api.stripe.com'], secrets: ['STRIPE_KEY'] },
    { limits: { calls_per_day: 1000, bytes_per_day: 100_000_000 } },
  ])
}, 120_000)

test('the examples of the teams guide that need one person work line by line', async () => {
  const lines = linesOf('docs/guides/teams.md', 'tour')
  expect(lines).toHaveLength(4)
  await typeLines(person, lines)
})

/** Replaces each program that the page exports from: the command that it accepts, and a shell command for its work. */
const exporters = [
  [
    'doppler secrets download --no-file --format json -p payments -c prd',
    `echo '{"STRIPE_KEY":"sk_live_3","DOPPLER_PROJECT":"p","DOPPLER_ENVIRONMENT":"prd","DOPPLER_CONFIG":"prd"}'`,
  ],
  [
    'infisical export --env staging --format json',
    `echo '[{"key":"FROM_INFISICAL","value":"a $value","type":"shared"}]'`,
  ],
  ['op inject -i .env.1password', `sed 's|op://shop/api/key|"a value"|' .env.1password`],
  [
    'vault kv get -format=json secret/payments',
    `echo '{"data":{"data":{"FROM_VAULT":"a value"},"metadata":{"version":1}}}'`,
  ],
]

requires('jq').test(
  'the import commands store what the other tools export',
  async () => {
    const programs = exporters.map(([command = '', work]) => {
      const [name] = command.split(' ')
      return `${name}() { [ "${name} $*" = '${command}' ] && ${work}; }; `
    })
    person.write('.env.1password', 'FROM_1PASSWORD=op://shop/api/key\n')
    person.write('.env', 'FROM_FILE=2\n')
    person.write('.env.production', 'FROM_FILE=3\n')
    person.write('.env.local', 'FROM_FILE=4\n')
    const lines = linesOf('docs/start/coming-from.md', 'import')
    await typeLines(person, lines, `set -o pipefail; ${programs.join('')}`)
    const pulled = async (environment: string) =>
      JSON.parse(await reveal(`cloakroom secrets pull - --format json -e ${environment}`))
    expect(await pulled('production')).toMatchObject({ STRIPE_KEY: 'sk_live_3', FROM_FILE: '3' })
    expect(await pulled('production')).not.toHaveProperty('DOPPLER_PROJECT')
    expect(await pulled('staging')).toMatchObject({ FROM_INFISICAL: 'a $value' })
    expect(await pulled('preview')).toMatchObject({ FROM_VAULT: 'a value' })
    expect(await pulled('development')).toMatchObject({ FROM_1PASSWORD: 'a value', FROM_FILE: '2' })
    expect(await reveal('cloakroom secrets get FROM_FILE')).toBe('4')
  },
  120_000,
)
