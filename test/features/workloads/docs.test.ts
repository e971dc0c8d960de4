// tier: quick
/** The examples of docs/guides/ci.md, run as printed. */
import { expect } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { githubActions, gitlabCi } from '../../../src/client/agents/set_up_texts.ts'
import { grantEnvironment, sealSecret } from '../../../src/client/vault.ts'
import {
  issueWorkloadToken,
  provisionWorkloadToken,
} from '../../../src/features/agents/contract.ts'
import { createProject } from '../../../src/features/projects/contract.ts'
import { upsertSecrets } from '../../../src/features/secrets/contract.ts'
import { allBlocks, scriptOf } from '../../docs/blocks.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { marked } from '../../support/canary.ts'
import { requires } from '../../support/requires.ts'
import { openTeam } from '../../support/teams.ts'
import { watched } from '../../support/watched.ts'

const { afterAll, beforeAll, test } = requires('curl', 'jq', 'bash')

type Job = {
  variables?: Record<string, string>
  before_script?: string[]
  script?: string[]
  steps?: { env?: Record<string, string>; run: string }[]
}

const github = scriptOf('docs/guides/ci.md', 'github')
const gitlab = scriptOf('docs/guides/ci.md', 'gitlab')
const githubSteps = (Bun.YAML.parse(github) as { jobs: { deploy: Job } }).jobs.deploy.steps ?? []
const gitlabJob = (Bun.YAML.parse(gitlab) as { deploy: Job }).deploy

const values = {
  DATABASE_URL: marked('postgres://app:p%40ss@db.internal/app?password='),
  EMPTY: '',
  SETTING: '1',
  LOG_LEVEL: 'debug',
  MULTI_LINE: '-----BEGIN KEY-----\nabc\n\ndef\n-----END KEY-----',
  PERCENT: 'a%0Ab%25c%0D%\r\nnext line',
  TRICKY: `it's "quoted" $HOME \`id\` $(id) \\n ; & | ü → EOF`,
}

let app: TestApp
let directory: string
let token: string

beforeAll(async () => {
  app = await sharedApp()
  directory = mkdtempSync(join(tmpdir(), 'cr-docs-'))
  const { owner, workspaceId, workspaceKey } = await openTeam(app)
  const workspace = { id: workspaceId, name: '', epoch: 1, key: workspaceKey }
  const environment = 'production'
  const body = { name: 'main', workspace_id: workspaceId }
  const { id: projectId } = await owner.api.call(createProject, { body })
  const params = { project_id: projectId }
  const issued = await owner.api.call(issueWorkloadToken, {
    params,
    body: { label: 'docs', environment },
  })
  const recipient = { id: issued.token_id, publicKey: issued.public_key }
  await owner.api.call(provisionWorkloadToken, {
    params: { ...params, token_id: issued.token_id },
    body: [await grantEnvironment(null, workspace, recipient, { projectId, environment })],
  })
  const secrets = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      sealSecret(workspace, { projectId, environment, key }, null, value),
    ]),
  )
  await owner.api.call(upsertSecrets, { body: { project_id: projectId, environment, secrets } })
  token = issued.token ?? ''
})
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true })
})

type RunOptions = { env?: Record<string, string>; reveals?: boolean }

const settings = () => ({ SERVICE_SERVER_URL: app.controlPlane, SERVICE_TOKEN: token })

/** Variables of a page, with the test's server and token. */
function placed(variables: Record<string, string> = {}): Record<string, string> {
  const replaced = Object.entries(variables).map(([name, value]) => [
    name,
    value
      .replace('https://cloakroom.example.com', app.controlPlane)
      .replace(/^\$\{\{ secrets\.SERVICE_TOKEN \}\}$/, token),
  ])
  return Object.fromEntries(replaced)
}

async function run(command: string[], { env = settings(), reveals = false }: RunOptions = {}) {
  const child = watched(
    Bun.spawn(command, {
      cwd: directory,
      stdout: 'pipe',
      stderr: 'pipe',
      env: { PATH: process.env.PATH ?? '', ...env },
    }),
    { reveals },
  )
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { out, err, code }
}

/** Prints the environment as JSON, for the programs that the examples start. */
const showEnvironment = [process.execPath, '-e', 'console.log(JSON.stringify(process.env))']

function written(name: string, text: string): string {
  const path = join(directory, name)
  writeFileSync(path, text, { mode: 0o755 })
  return path
}

/** The program `./deploy.sh` of the examples. */
function writeProgram(): void {
  const [program, option, code] = showEnvironment
  written('deploy.sh', `#!/bin/sh\nexec ${program} ${option} '${code}'\n`)
}

test('the entry point of a container starts the program with the secrets and without the token', async () => {
  const script = scriptOf('docs/guides/ci.md', 'entrypoint')
  const { out, err, code } = await run(
    ['sh', written('entrypoint.sh', script), ...showEnvironment],
    { reveals: true },
  )
  expect({ err, code }).toEqual({ err: '', code: 0 })
  const seen = JSON.parse(out)
  expect(seen).toMatchObject(values)
  expect(seen).not.toHaveProperty('SERVICE_TOKEN')
})

test('the entry point does not start the program when nothing is delivered', async () => {
  const script = scriptOf('docs/guides/ci.md', 'entrypoint')
  const path = written('refused.sh', script)
  const { out, err, code } = await run(['sh', path, 'echo', 'started'], {
    env: { ...settings(), SERVICE_TOKEN: 'svc_wkl_x' },
  })
  expect({ out, code }).toEqual({ out: '', code: 1 })
  expect(err).toContain('"error_code":"invalid_token"')
})

test('the step for GitHub Actions masks every line that is longer than a setting, and exports every value', async () => {
  const [step, then] = githubSteps
  const file = join(directory, 'github_env')
  const shell = [
    'bash',
    '--noprofile',
    '--norc',
    '-eo',
    'pipefail',
    written('step.sh', step?.run ?? ''),
  ]
  const env = { ...placed(step?.env), GITHUB_ENV: file }
  const { out, err, code } = await run(shell, { env, reveals: true })
  expect({ err, code }).toEqual({ err: '', code: 0 })
  const { SETTING: _, LOG_LEVEL: __, ...secrets } = values
  const lines = Object.values(secrets).flatMap((value) => value.split('\n').filter(Boolean))
  expect(commandsIn(out).sort()).toEqual(lines.map((line) => `::add-mask::${line}`).sort())
  const exported = readGithubEnv(readFileSync(file, 'utf8'))
  expect(exported).toEqual(values)
  writeProgram()
  const deployed = await run(['bash', '-ec', then?.run ?? ''], { env: exported, reveals: true })
  expect(JSON.parse(deployed.out)).toMatchObject(values)
})

/** Decodes each line like the runner: `%25` last. */
function commandsIn(output: string): string[] {
  const lines = output.trimEnd().split('\n')
  return lines.map((line) =>
    line.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%'),
  )
}

/** The runner's format: `NAME<<delimiter`, the value's lines, the delimiter. */
function readGithubEnv(text: string): Record<string, string> {
  const found = text.matchAll(/^(\w+)<<(\S+)\n([\s\S]*?)\n\2$/gm)
  return Object.fromEntries([...found].map(([, name, , value]) => [name, value ?? '']))
}

test('the job for GitLab has the values in the following commands', async () => {
  const { before_script: before = [], script: lines = [], variables } = gitlabJob
  writeProgram()
  // Replaces the package manager of Alpine: the test machine has both programs.
  const apk = 'apk() { [ "$*" = "add --no-cache curl jq" ]; }'
  const script = written('job.sh', ['set -eo pipefail', apk, ...before, ...lines].join('\n'))
  const env = { ...placed(variables), SERVICE_TOKEN: token }
  const { out, err, code } = await run(['bash', script], { env, reveals: true })
  expect({ err, code }).toEqual({ err: '', code: 0 })
  expect(JSON.parse(out)).toMatchObject(values)
})

test("the console's texts for CI equal those of the page", () => {
  const addresses = { server: 'https://cloakroom.example.com', resolver: '' }
  expect([github, gitlab]).toEqual([githubActions(addresses, true), gitlabCi(addresses, true)])
})

test('the token is in no argument that other processes can read', () => {
  for (const { text } of allBlocks.filter(({ page }) => page === 'docs/guides/ci.md')) {
    for (const line of text.split('\n').filter((each) => each.includes('$SERVICE_TOKEN')))
      expect(line.trim()).toStartWith('printf ')
  }
})
