// tier: quick
/** Two machines that change the same signed workspace at the same time: each change is kept, and none is lost. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sharedApp, type TestApp } from '../support/app.ts'
import type { Terminal } from './person.ts'
import { loggedIn, signedAccount, signedWorkspace } from './signed_person.ts'

let app: TestApp
let machines: Terminal[]
const guests: Terminal[] = []

beforeAll(async () => {
  app = await sharedApp()
  const ada = await signedAccount(app, 'ada@two-writers.example')
  await signedWorkspace(app, 'ada@two-writers.example', 'acme')
  machines = [ada, await loggedIn(app, 'ada@two-writers.example')]
  for (const name of ['bob', 'eve', 'fay']) {
    guests.push(await signedAccount(app, `${name}@two-writers.example`))
  }
  await ada.must(...inAcme('project', 'create', 'api'))
  for (const machine of machines) await machine.must(...inAcme('workspace', 'verify'))
})
afterAll(() => {
  for (const person of [...machines, ...guests]) person.remove()
})

const inAcme = (...args: string[]) => [...args, '-w', 'acme']
const inApi = (...args: string[]) => [...inAcme(...args), '-p', 'api', '-e', 'development']

/** Starts a command on each machine at the same time. @throws Error if a command fails */
function atOnce(command: (at: number) => string[]): Promise<string[]> {
  return Promise.all(machines.map((machine, at) => machine.must(...command(at))))
}

async function verified() {
  const [ada] = machines
  return (await ada?.json(...inAcme('workspace', 'verify'))) as {
    members: { email: string }[]
    tokens: { verdict: string }[]
  }
}

async function inviting(at: number): Promise<string[]> {
  const guest = (await guests[at]?.json('whoami')) as { email: string; fingerprint: string }
  return inAcme('workspace', 'invite', guest.email, '--fingerprint', guest.fingerprint)
}

test('two writers both invite a person', async () => {
  const commands = await Promise.all([inviting(0), inviting(1)])
  await atOnce((at) => commands[at] ?? [])
  const people = (await verified()).members.map(({ email }) => email)
  expect(people.sort()).toEqual([
    'ada@two-writers.example',
    'bob@two-writers.example',
    'eve@two-writers.example',
  ])
})

test('two writers both create an agent, and issue a token of the same one', async () => {
  await atOnce((at) => inApi('agent', 'create', `bot-${at}`, '--quiet'))
  await atOnce((at) => inApi('token', 'issue', 'bot-0', '--label', `of-${at}`, '--quiet'))
  const { tokens } = await verified()
  expect(tokens.map(({ verdict }) => verdict)).toEqual(Array(4).fill('verified'))
})

test('one writer invites while the other changes the allowlist', async () => {
  const invite = await inviting(2)
  await atOnce((at) => (at === 0 ? invite : inAcme('allowlist', 'add', 'api.example.com')))
  const people = (await verified()).members.map(({ email }) => email)
  expect(people).toContain('fay@two-writers.example')
  const allowed = await machines[0]?.json(...inAcme('allowlist', 'list'))
  expect(allowed).toMatchObject([{ domain: 'api.example.com' }])
})
