import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { topLevel } from '../../src/cli/catalogue/index.ts'
import { type Agent, employAgent, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { answerOf } from '../support/upstream.ts'
import { watched } from '../support/watched.ts'
import { textOf } from './documents.ts'

const ROOT = join(import.meta.dir, '..', '..')
const readme = textOf('README.md')

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await openStage({ names: ['api.example.com'] })
  agent = await employAgent(stage, {
    secrets: { STRIPE_KEY: marked('sk_live_readme') },
    domains: [stage.authorityOf('api.example.com')],
  })
})
afterAll(() => stage.stop())

test('the call of the README works as it stands, and answers as it says', async () => {
  stage.upstream.on(
    '/v1/charges',
    answerOf(200, { 'content-type': 'application/json' }, '{"ok":true}'),
  )
  const [, example = '', answer = ''] =
    /```sh run\n(.*?)```\s+```json\n(.*?)```/s.exec(readme) ?? []
  // The upstream of the test has a port of its own; nothing else of the example changes.
  const script = example.replace('https://api.example.com/', stage.url('/', 'api.example.com'))
  const child = watched(
    Bun.spawn(['sh', '-c', script], {
      env: {
        PATH: process.env.PATH ?? '',
        SERVICE_TOKEN: agent.token,
        SERVICE_RESOLVER_URL: stage.app.resolver,
      },
    }),
  )
  expect(JSON.parse(await new Response(child.stdout).text())).toEqual(JSON.parse(answer))
  const [received] = stage.upstream.received
  expect([received?.method, received?.header('authorization')]).toEqual([
    'POST',
    `Bearer ${marked('sk_live_readme')}`,
  ])
})

test('every script and command that the README or CONTRIBUTING names exists', async () => {
  const { scripts } = await Bun.file(join(ROOT, 'package.json')).json()
  const named = `${readme}${textOf('CONTRIBUTING.md')}`.matchAll(/bun(?:@[\d.]+)? run ([\w:]+)/g)
  for (const [, name = ''] of named) expect(Object.keys(scripts)).toContain(name)
  const known = [
    'keygen',
    'settings',
    'serve',
    'secrets',
    'allowlist',
    'agent',
    ...topLevel.map(({ usage }) => usage.split(' ')[0]),
  ]
  for (const [, name = ''] of readme.matchAll(/(?:^|`)cloakroom ([a-z-]+)/gm))
    expect(known).toContain(name)
})
