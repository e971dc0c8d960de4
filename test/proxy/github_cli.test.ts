// tier: all
/** GitHub's own command line behind the proxy, with a token whose policy permits only reads. */
import { afterAll, expect } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { answerOf, type ReceivedRequest } from '../support/upstream.ts'
import { type OpenProxy, openProxyStage, runWith } from './stage.ts'

const { describe, test } = requires('gh')

const stage = await openProxyStage()
afterAll(stage.stop)
const TOKEN = marked('ghp_0123456789')
await stage.agent.store('GITHUB_TOKEN', TOKEN, { policy: { read_only: true } })
const REPOSITORY = `${stage.authorityOf()}/ada/engine`

const repository = {
  id: 'R_1',
  name: 'engine',
  owner: { id: 'U_1', login: 'ada' },
  description: 'It weaves algebraic patterns',
  hasIssuesEnabled: true,
  viewerPermission: 'ADMIN',
  defaultBranchRef: { name: 'main' },
  issues: connection({
    number: 7,
    title: 'Noted by the countess',
    url: 'https://github.example/ada/engine/issues/7',
    state: 'OPEN',
    updatedAt: '2026-01-01T00:00:00Z',
    labels: { nodes: [], totalCount: 0 },
  }),
  pullRequests: connection({
    number: 8,
    title: 'Compute Bernoulli numbers',
    state: 'OPEN',
    url: 'https://github.example/ada/engine/pull/8',
    headRefName: 'bernoulli',
    headRepositoryOwner: { id: 'U_1', login: 'ada' },
    isCrossRepository: false,
    isDraft: false,
    createdAt: '2026-01-01T00:00:00Z',
  }),
}

function connection(node: object) {
  return { totalCount: 1, nodes: [node], pageInfo: { hasNextPage: false, endCursor: '' } }
}

const json = (value: unknown, status = 200) =>
  answerOf(status, { 'content-type': 'application/json' }, JSON.stringify(value))

/** Write requests that reached the API. */
const writes: string[] = []

function noteWrite({ method, path, body }: ReceivedRequest): void {
  const text = Buffer.from(body).toString()
  const isQuery = path === '/api/graphql' && !/\bmutation\b/.test(text)
  if (method !== 'GET' && !isQuery) writes.push(`${method} ${path} ${text}`)
}

stage.upstream.on('/api/graphql', (request, wire) => {
  noteWrite(request)
  const known = request.header('authorization') === `token ${TOKEN}`
  const isIntrospection = Buffer.from(request.body).includes('__type')
  const data = isIntrospection ? { Issue: { fields: [] } } : { repository }
  wire.write(known ? json({ data }) : json({}, 401))
})
for (const path of ['', '/issues', '/issues/7', '/forks', '/contents/README.md']) {
  stage.upstream.on(`/api/v3/repos/ada/engine${path}`, (request, wire) => {
    noteWrite(request)
    if (path === '/contents/README.md') wire.write(json({ content: btoa('# Engine') }))
    else wire.write(json({ full_name: 'ada/engine', path }))
  })
}

async function gh(proxy: OpenProxy, ...args: string[]) {
  const home = join(stage.directory, 'gh')
  mkdirSync(home, { recursive: true })
  return runWith(proxy, ['gh', ...args], {
    HOME: home,
    GH_HOST: stage.authorityOf(),
    GH_ENTERPRISE_TOKEN: 'SVC_SECRET_GITHUB_TOKEN',
    GH_NO_UPDATE_NOTIFIER: '1',
    GH_PROMPT_DISABLED: '1',
    NO_COLOR: '1',
  })
}

const reads: [args: string[], shown: string][] = [
  [['api', 'repos/ada/engine'], '"full_name":"ada/engine"'],
  [
    ['api', 'repos/ada/engine/issues', '--paginate', '--method', 'GET', '-f', 'state=open'],
    '/issues',
  ],
  [['api', 'graphql', '-f', 'query={ repository(owner: "ada", name: "engine") { id } }'], 'R_1'],
  [['repo', 'view', REPOSITORY], 'It weaves algebraic patterns'],
  [['issue', 'list', '-R', REPOSITORY], 'Noted by the countess'],
  [['pr', 'list', '-R', REPOSITORY], 'Compute Bernoulli numbers'],
]

const MUTATION =
  'The policy of the secret GITHUB_TOKEN permits only reads (read_only), and this request has a GraphQL mutation.'
const POST =
  'The policy of the secret GITHUB_TOKEN permits only reads (read_only), and this request may write: it is a POST to a path'
const METHOD =
  'The policy of the secret GITHUB_TOKEN does not permit this method (read_only: GET, HEAD, OPTIONS).'

const refused: [args: string[], sentence: string][] = [
  [['issue', 'create', '-R', REPOSITORY, '--title', 'a', '--body', 'b'], MUTATION],
  [['api', '-X', 'POST', 'repos/ada/engine/issues', '-f', 'title=a'], POST],
  [['api', 'repos/ada/engine/forks', '-f', 'query={ viewer { login } }'], POST],
  [['api', '-X', 'PATCH', 'repos/ada/engine/issues/7', '-f', 'state=closed'], METHOD],
  [['api', '-X', 'DELETE', 'repos/ada/engine'], METHOD],
  [
    ['api', 'graphql', '-f', 'query=mutation { deleteIssue(input: {}) { clientMutationId } }'],
    MUTATION,
  ],
  [['repo', 'delete', REPOSITORY, '--yes'], METHOD],
]

/** Without the port, which differs each time. */
function named([args, text]: [args: string[], text: string]) {
  const command = `gh ${args.join(' ')}`.replace(REPOSITORY, 'ada/engine')
  return [command, args, text] as const
}

// One after the other: both write the same bundle.
const proxies = { local: await stage.open('local'), remote: await stage.open('remote') }

describe.each(Object.entries(proxies))('gh behind the %s proxy', (_, proxy) => {
  test.each(reads.map(named))('gh reads with %s', async (_command, args, shown) => {
    const ran = await gh(proxy, ...args)
    expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: '' })
    expect(ran.out).toContain(shown)
  })

  test.each(refused.map(named))('gh writes nothing with %s', async (_command, args, sentence) => {
    const { code, out, err } = await gh(proxy, ...args)
    expect(code).toBe(1)
    expect(err).toContain(sentence)
    expect(err).toContain('HTTP 403')
    if (args[0] === 'api') expect(JSON.parse(out)).toMatchObject({ error_code: 'policy_blocked' })
    expect(writes).toEqual([])
  })
})
