// tier: quick
/**
 * Requests that each command sends, and how many of them are sent together. A change in a signed workspace takes at
 * most one round trip more than in a plain one.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startTestApp, type TestApp } from '../support/app.ts'
import type { Terminal } from './person.ts'
import { openSwitch } from './running/switched_server.ts'
import { plainWorkspace, signedAccount, signedWorkspace } from './signed_person.ts'

let app: TestApp
let between: ReturnType<typeof openSwitch>
let ada: Terminal
let bob: Terminal

beforeAll(async () => {
  app = await startTestApp()
  between = openSwitch(app.controlPlane)
  const behind = { controlPlane: between.origin, resolver: app.resolver }
  ada = await signedAccount(behind, 'ada@example.com')
  bob = await signedAccount(behind, 'bob@example.com')
  await plainWorkspace(app, 'ada@example.com', 'old')
  await signedWorkspace(app, 'ada@example.com', 'new')
  for (const name of ['old', 'new']) {
    await ada.must('project', 'create', 'api', '-w', name)
    await ada.must('secrets', 'set', 'FIRST=1', '-w', name, '-p', 'api')
  }
})
afterAll(async () => {
  for (const person of [ada, bob]) person.remove()
  await between.close()
  await app.stop()
})

async function requestsOf(...args: string[]): Promise<string[]> {
  const before = between.asked.length
  await ada.must(...args)
  return between.asked.slice(before).map((asked) => asked.replaceAll(/[0-9a-f-]{36}/g, 'id'))
}

const WORKSPACES = 'GET /api/workspaces/'
const PROJECTS = 'GET /api/projects/'
const LINKS = 'GET /api/workspaces/id/links/'
const SECRETS = 'GET /api/secrets/id/'
const PLACE = [WORKSPACES, PROJECTS, SECRETS, LINKS]

/** The requests of each command in a signed workspace that this machine has seen. No list here may grow. */
test.each([
  [['run', '--', 'true'], PLACE],
  [['secrets', 'list'], PLACE],
  [['secrets', 'pull'], PLACE],
  [
    ['secrets', 'get', 'FIRST'],
    [...PLACE, `${SECRETS}FIRST/`],
  ],
  [
    ['secrets', 'set', 'FIRST=1'],
    [WORKSPACES, PROJECTS, SECRETS, LINKS, `${SECRETS}FIRST/`, 'POST /api/secrets/'],
  ],
  [
    ['env', 'list'],
    [WORKSPACES, PROJECTS, `${PROJECTS}id/environments/`],
  ],
  [
    ['project', 'list'],
    [WORKSPACES, PROJECTS],
  ],
  [
    ['allowlist', 'list'],
    [WORKSPACES, LINKS, 'GET /api/workspaces/id/allowlist/', LINKS],
  ],
  [
    ['workspace', 'list'],
    [WORKSPACES, LINKS, LINKS],
  ],
] as const)('%p sends no more requests than recorded', async (command, asked) => {
  const [name = '', ...more] = command
  const place = ['-w', 'new', '-p', 'api']
  expect(await requestsOf(name, ...place, ...more)).toEqual([...asked])
})

test.each([
  [['run', '-w', 'new', '-p', 'api', '--', 'true']],
  [['secrets', 'list', '-w', 'new', '-p', 'api']],
])(
  '%p takes one round trip: none of its requests waits for the answer to another',
  async (args) => {
    const [project] = (await ada.json('project', 'list', '-w', 'new')) as { id: string }[]
    between.together(['/api/workspaces/', '/api/projects/', '/links/', `/${project?.id}/`])
    expect(await requestsOf(...args)).toHaveLength(4)
  },
)

test('an expired session is renewed once for all requests that are sent together', async () => {
  const path = join(ada.home, '.config/cloakroom/session.json')
  const session = JSON.parse(readFileSync(path, 'utf8')) as { refresh: string }
  writeFileSync(path, JSON.stringify({ ...session, access: 'svc_ses_expired' }))
  const asked = await requestsOf('secrets', 'list', '-w', 'new', '-p', 'api')
  expect(asked.filter((each) => each.startsWith('POST'))).toEqual(['POST /api/auth/refresh/'])
})

const fingerprint = async () => ((await bob.json('whoami')) as { fingerprint: string }).fingerprint

const ADD = ['allowlist', 'add', 'api.example.com']
const SET = ['secrets', 'set', 'KEY=value', '-p', 'api']

test.each([
  ['an allowlist change', ADD],
  ['storing a secret', SET],
])('%s takes at most one more round trip than in a plain workspace', async (_, args) => {
  const plain = await requestsOf(...args, '-w', 'old')
  const signed = await requestsOf(...args, '-w', 'new')
  expect(signed.filter((asked) => !plain.includes(asked))).toEqual([
    'GET /api/workspaces/id/links/',
  ])
  expect(signed.length).toBe(plain.length + 1)
})

test('an invitation sends its additional reads in parallel with the usual ones', async () => {
  const args = ['workspace', 'invite', 'bob@example.com']
  const plain = await requestsOf(...args, '-w', 'old')
  const compared = ['--fingerprint', await fingerprint()]
  between.together(['/public-key/', '/members/', '/links/'])
  const signed = await requestsOf(...args, ...compared, '-w', 'new')
  const more = signed.filter((asked) => !plain.includes(asked)).sort()
  expect(more).toEqual(['GET /api/workspaces/id/links/', 'GET /api/workspaces/id/members/'])
  expect(signed.length).toBe(plain.length + 2)
})
