/**
 * Actions of people and agents with an older version, by its own command line: accounts, secrets with versions and a
 * policy, a shared workspace, live tokens and a revoked one, successful calls and a rejected one.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HOST, type Story } from '../fixture.ts'

type Place = { command: string[]; controlPlane: string; resolver: string; port: number }

const PASSWORD = 'correct horse battery staple from then'
const SECRETS = { STRIPE_KEY: 'sk_of_before_2', DATABASE_URL: 'postgres://app:pw@db/app' }
const POLICY = { allowed_methods: ['GET'] }

export async function runStory(place: Place): Promise<Story> {
  const home = mkdtempSync(join(tmpdir(), 'cr-story-'))
  try {
    return await runStoryIn(home, place)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

async function runStoryIn(home: string, place: Place): Promise<Story> {
  const ada = person(join(home, 'ada'), place)
  const bob = person(join(home, 'bob'), place)
  const skipped: string[] = []
  const tryTo = async (what: string, act: () => Promise<unknown>) => {
    await act().catch((error: Error) => skipped.push(`${what}: ${error.message.slice(0, 200)}`))
  }
  const registered = await ada.run('register', 'ada@people.example', '--password-stdin')
  await bob.run('register', 'bob@people.example', '--password-stdin')
  await ada.run('init', 'shop')
  await ada.run('secrets', 'set', 'STRIPE_KEY=sk_of_before_1', 'OLD_KEY=removed_later')
  await ada.run('secrets', 'set', `STRIPE_KEY=${SECRETS.STRIPE_KEY}`)
  const databaseUrl = `DATABASE_URL=${SECRETS.DATABASE_URL}`
  await ada.run('secrets', 'set', databaseUrl, '--policy', JSON.stringify(POLICY))
  // Later versions ask for confirmation.
  const remove = ['secrets', 'delete', 'OLD_KEY']
  await ada.run(...remove).catch(() => ada.run(...remove, '--yes'))
  await ada.run('allowlist', 'add', `${HOST}:${place.port}`)
  const how = ['--expires-in-days', 'never', '--json']
  const agent = tokenIn(await ada.run('agent', 'create', 'deploy-bot', ...how))
  const revoked = tokenIn(await ada.run('token', 'issue', 'deploy-bot', ...how))
  const workload = tokenIn(await ada.run('workload-token', 'issue', 'ci', ...how))
  await ada.run('token', 'revoke', 'deploy-bot', revoked.id)
  await call(ada, place, agent.token, `${HOST}:${place.port}`)
  await call(ada, place, agent.token, 'elsewhere.example').catch(() => undefined)
  await tryTo('a delivery', () => ada.with({ SERVICE_TOKEN: workload.token }, 'run', '--', 'true'))
  await ada.run('workspace', 'create', 'team')
  await tryTo('an invitation', async () => {
    const invite = ['workspace', 'invite', 'bob@people.example', '-w', 'team']
    const [fingerprint = ''] = /(?:[a-z2-7]{4} ){5}[a-z2-7]{4}/.exec(await bob.run('whoami')) ?? []
    await ada.run(...invite).catch(() => ada.run(...invite, '--fingerprint', fingerprint))
    await bob.run('workspace', 'accept', 'team')
  })
  // Records of calls are written a moment after their end.
  await Bun.sleep(1500)
  return {
    password: PASSWORD,
    people: ['ada@people.example', 'bob@people.example'],
    recoveryKey: /(?:[0-9a-f]{8}-){7}[0-9a-f]{8}/.exec(registered)?.[0] ?? '',
    secrets: SECRETS,
    agentToken: agent.token,
    revokedToken: revoked.token,
    workloadToken: workload.token,
    skipped,
  }
}

type Person = ReturnType<typeof person>

function person(home: string, { command, controlPlane, resolver }: Place) {
  mkdirSync(home)
  const base = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    XDG_RUNTIME_DIR: home,
    SERVICE_SERVER_URL: controlPlane,
    SERVICE_RESOLVER_URL: resolver,
  }
  const withEnv = async (env: Record<string, string>, ...args: string[]) => {
    const child = Bun.spawn([...command, '--insecure-storage', ...args], {
      cwd: home,
      env: { ...base, ...env },
      stdin: new Blob([`${PASSWORD}\n`]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${err}`)
    return `${out}${args.includes('--json') ? '' : err}`
  }
  return { run: (...args: string[]) => withEnv({}, ...args), with: withEnv }
}

function call(by: Person, _: Place, token: string, authority: string): Promise<string> {
  const header = 'Authorization: Bearer SVC_SECRET_STRIPE_KEY'
  return by.with({ SERVICE_TOKEN: token }, 'call', `https://${authority}/charges`, '-H', header)
}

function tokenIn(printed: string): { token: string; id: string } {
  const answer = JSON.parse(printed) as Record<string, unknown>
  const { token, token_id, id = token_id } = answer
  if (typeof token === 'string' && typeof id === 'string') return { token, id }
  throw new Error(`no token in ${printed}`)
}
