/**
 * One workspace of an honest history, as modelled by the test: its members and roles, its usable tokens, and the
 * commands that led there. No command may raise an alarm.
 */
import type { Role } from '../../../src/core/grant.ts'
import type { Random } from '../../faults/random.ts'
import type { TestApp } from '../../support/app.ts'
import { effort } from '../../support/effort.ts'
import { PASSWORD, type Run, type Terminal } from '../person.ts'
import { loggedIn, signedAccount } from '../signed_person.ts'

export type Someone = {
  email: string
  /** Two machines of one account. */
  machines: [Terminal, Terminal]
  fingerprint: string
}

export type Token = {
  id: string
  text: string
  kind: 'agent' | 'workload'
  project: string
  /** Null for a workload token. */
  agent: string | null
  label: string
  /** The person who signed its grant. */
  granter: Someone
  isLive: boolean
}

export type World = {
  app: TestApp
  random: Random
  workspace: string
  workspaceId: string
  people: readonly Someone[]
  roles: Map<Someone, Role>
  /** People who were members once. */
  left: Set<Someone>
  tokens: Token[]
  /** Texts of tokens whose project was deleted. */
  ended: string[]
  /** Project → names of stored secrets, in the environment `development`. */
  projects: Map<string, Set<string>>
  /** Numbers names, so that none occurs twice. */
  next(): number
  steps: string[]
}

/** Errors that only a lying server may cause. `hidden_workspace` is missing, because only the person can judge it. */
const ALARMS =
  /unverified_workspace|unverified_state|changed_key|changed_name|unproven_|wrong_fallback|not what|(?<!token )is refused:|signed text|runs the server|not carried over|not signed again|took no signature/

export async function openPeople(app: TestApp, run: string): Promise<Someone[]> {
  const names = ['ada', 'bob', 'cyd', 'dan'].slice(0, effort(2, 4))
  return Promise.all(
    names.map(async (name) => {
      const email = `${name}-${run}@people.example`
      const first = await signedAccount(app, email)
      const second = await loggedIn(app, email)
      const { fingerprint } = (await first.json('whoami')) as { fingerprint: string }
      return { email, machines: [first, second], fingerprint }
    }),
  )
}

export async function openWorld(
  app: TestApp,
  people: readonly Someone[],
  random: Random,
): Promise<World> {
  let number = 0
  const workspace = `h-${random.seed}`
  const [ada] = people as [Someone]
  const { id: workspaceId } = (await ada.machines[0].json('workspace', 'create', workspace)) as {
    id: string
  }
  return {
    ...{ app, random, workspace, workspaceId, people },
    roles: new Map([[ada, 'owner']]),
    left: new Set(),
    tokens: [],
    ended: [],
    projects: new Map(),
    next: () => (number += 1),
    steps: [],
  }
}

export function oneOf<T>({ random }: Pick<World, 'random'>, some: readonly T[]): T {
  return some[random.between(0, some.length - 1)] as T
}

/** Runs a command in the workspace, on one of the person's machines. @throws if it fails or raises an alarm */
export function act(world: World, who: Someone, args: readonly string[]): Promise<string> {
  return on(world, who, [...args, '-w', world.workspace])
}

export async function on(
  world: World,
  who: Someone,
  args: readonly string[],
  stdin?: string,
): Promise<string> {
  const run = await attempt(world, who, args, stdin)
  if (run.code !== 0) throw failure(world, run)
  return run.out
}

/** Runs a command that the server may refuse. @throws if it raises an alarm */
export async function attempt(
  world: World,
  who: Someone,
  args: readonly string[],
  stdin = '',
): Promise<Run> {
  const at = world.random.between(0, 1)
  world.steps.push(`${who.email} on machine ${at}: cloakroom ${args.join(' ')}`)
  const run = await (who.machines[at] as Terminal).run(args, { stdin, reveals: true })
  if (ALARMS.test(run.err) || ALARMS.test(run.out)) throw failure(world, run)
  return run
}

function failure({ random, steps }: World, { code, out, err }: Run): Error {
  return new Error(
    `history ${random.seed} ended with ${code}:\n${err}\n${out}\n${steps.join('\n')}`,
  )
}

/** New keys on one machine end the session on the other one. */
export async function logInAgain(world: World, who: Someone): Promise<void> {
  for (const machine of who.machines) {
    const args = ['login', who.email, '--password-stdin', '--insecure-storage']
    const run = await machine.run(args, { stdin: `${PASSWORD}\n` })
    if (run.code !== 0) throw failure(world, run)
  }
  const { fingerprint } = (await who.machines[0].json('whoami')) as { fingerprint: string }
  who.fingerprint = fingerprint
}

export function membersWith({ roles }: World, wanted: readonly Role[]): Someone[] {
  return [...roles].filter(([, role]) => wanted.includes(role)).map(([who]) => who)
}

export const admins = (world: World) => membersWith(world, ['owner', 'admin'])
export const writers = (world: World) => membersWith(world, ['owner', 'admin', 'member'])

/** Ends the tokens that a person granted, except those kept by ID, which get a new granter. */
export function endTokensOf({ tokens }: World, who: Someone, kept: readonly string[], by: Someone) {
  for (const token of tokens) {
    if (token.granter !== who || !token.isLive) continue
    if (kept.includes(token.id)) token.granter = by
    else token.isLive = false
  }
}
