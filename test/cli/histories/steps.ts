/** The steps that people take with a workspace in an ordinary year. Each step runs only if the model permits it. */
import type { Role } from '../../../src/core/grant.ts'
import { PASSWORD } from '../person.ts'
import {
  act,
  admins,
  attempt,
  endTokensOf,
  logInAgain,
  membersWith,
  on,
  oneOf,
  type Someone,
  type Token,
  type World,
  writers,
} from './world.ts'

/** False if there is no object for the step. */
type Step = (world: World) => Promise<boolean>

const isAdmin = (role: Role | undefined) => role === 'owner' || role === 'admin'
const others = (world: World) => world.people.filter((who) => !world.roles.has(who))

/** Owners other than this one. */
const isReplaceable = (world: World, who: Someone) =>
  membersWith(world, ['owner']).some((other) => other !== who)

export const steps: Record<string, Step> = {
  invite: async (world) => {
    const guests = others(world)
    if (guests.length === 0) return false
    const [by, who] = [oneOf(world, membersWith(world, ['owner'])), oneOf(world, guests)]
    const role = oneOf(world, ['owner', 'admin', 'admin', 'member', 'read_only'] as const)
    const asked = ['--role', role, '--fingerprint', who.fingerprint]
    await act(world, by, ['workspace', 'invite', who.email, ...asked])
    if (world.random.between(0, 5) === 0) {
      await on(world, who, ['workspace', 'decline', world.workspace])
      return true
    }
    await on(world, who, ['workspace', 'accept', world.workspace])
    world.left.delete(who)
    world.roles.set(who, role)
    return true
  },

  /** A guest who rotates keys before accepting declines, and can be invited again. */
  stale_invitation: async (world) => {
    const guests = others(world)
    if (guests.length === 0) return false
    const [by, who] = [oneOf(world, membersWith(world, ['owner'])), oneOf(world, guests)]
    await act(world, by, ['workspace', 'invite', who.email, '--fingerprint', who.fingerprint])
    const rotate = [
      'account',
      'rotate-keys',
      '--yes',
      '--password-stdin',
      ...withoutLeft(world, who),
    ]
    await on(world, who, rotate, `${PASSWORD}\n`)
    await logInAgain(world, who)
    await attempt(world, who, ['workspace', 'accept', world.workspace])
    await on(world, who, ['workspace', 'decline', world.workspace])
    const again = ['workspace', 'invite', who.email, '--fingerprint', who.fingerprint]
    const { err } = await attempt(world, by, [...again, '-w', world.workspace, '--json'])
    if (!err.includes('replaced_keys')) throw new Error(err)
    await act(world, by, ['workspace', 'remove', who.email, '--yes'])
    return true
  },

  change_role: async (world) => {
    const by = oneOf(world, membersWith(world, ['owner']))
    const members = [...world.roles.keys()].filter((who) => who !== by)
    if (members.length === 0) return false
    const who = oneOf(world, members)
    const role = oneOf(world, ['owner', 'admin', 'member', 'read_only'] as const)
    const kept = keptOf(world, who)
    const ends = isAdmin(world.roles.get(who)) && !isAdmin(role)
    const flags = ends ? kept.flatMap((id) => ['--keep-token', id]) : []
    await act(world, by, ['workspace', 'role', who.email, role, ...flags])
    if (ends) endTokensOf(world, who, kept, by)
    world.roles.set(who, role)
    return true
  },

  remove: async (world) => {
    const by = oneOf(world, membersWith(world, ['owner']))
    const members = [...world.roles.keys()].filter((who) => who !== by)
    if (members.length === 0) return false
    const who = oneOf(world, members)
    const kept = isAdmin(world.roles.get(who)) ? keptOf(world, who) : []
    const flags = kept.flatMap((id) => ['--keep-token', id])
    await act(world, by, ['workspace', 'remove', who.email, '--yes', ...flags])
    endTokensOf(world, who, kept, by)
    return gone(world, who)
  },

  leave: async (world) => {
    const who = oneOf(world, [...world.roles.keys()])
    if (!isReplaceable(world, who)) return false
    await act(world, who, ['workspace', 'remove', who.email, '--yes'])
    endTokensOf(world, who, [], who)
    return gone(world, who)
  },

  rotate_keys: async (world) => {
    const who = oneOf(world, [...world.roles.keys()])
    const kept = keptOf(world, who)
    const flags = [...kept.flatMap((id) => ['--keep-token', id]), ...withoutLeft(world, who)]
    const args = ['account', 'rotate-keys', '--yes', '--password-stdin', ...flags]
    await on(world, who, args, `${PASSWORD}\n`)
    if (isAdmin(world.roles.get(who))) endTokensOf(world, who, kept, who)
    await logInAgain(world, who)
    return true
  },

  rekey: async (world) => {
    await act(world, oneOf(world, admins(world)), ['workspace', 'rekey', '--yes'])
    return true
  },

  allow: async (world) => {
    const host = `h${world.next()}.example.com`
    await act(world, oneOf(world, admins(world)), ['allowlist', 'add', host])
    if (world.random.between(0, 1) === 1)
      await act(world, oneOf(world, admins(world)), ['allowlist', 'remove', host])
    return true
  },

  create_project: async (world) => {
    const name = `p${world.next()}`
    await act(world, oneOf(world, admins(world)), ['project', 'create', name])
    world.projects.set(name, new Set())
    return true
  },

  delete_project: async (world) => {
    const [name, project] = [oneOf(world, [...world.projects.keys()]), world.projects]
    if (name === undefined) return false
    await act(world, oneOf(world, admins(world)), ['project', 'delete', name, '--yes'])
    world.ended.push(...world.tokens.flatMap((each) => (each.project === name ? [each.text] : [])))
    world.tokens = world.tokens.filter((token) => token.project !== name)
    if (world.random.between(0, 2) > 0) {
      await act(world, oneOf(world, admins(world)), ['project', 'restore', name])
      return true
    }
    project.delete(name)
    return true
  },

  set_secret: async (world) => {
    const project = oneOf(world, [...world.projects.keys()])
    if (project === undefined) return false
    const name = `KEY_${world.random.between(1, 4)}`
    const pair = `${name}=value-${world.next()}-of-a-secret`
    await act(world, oneOf(world, writers(world)), ['secrets', 'set', pair, '-p', project])
    world.projects.get(project)?.add(name)
    return true
  },

  delete_secret: async (world) => {
    const filled = [...world.projects].filter(([, names]) => names.size > 0)
    if (filled.length === 0) return false
    const [project, names] = oneOf(world, filled)
    const name = oneOf(world, [...names])
    const here = [name, '-p', project]
    await act(world, oneOf(world, writers(world)), ['secrets', 'delete', ...here, '--yes'])
    if (world.random.between(0, 1) === 0) names.delete(name)
    else await act(world, oneOf(world, writers(world)), ['secrets', 'undelete', ...here])
    return true
  },

  issue_agent: async (world) => {
    const project = oneOf(world, [...world.projects.keys()])
    if (project === undefined) return false
    const [by, agent] = [oneOf(world, admins(world)), `bot${world.next()}`]
    const label = `l${world.next()}`
    await needsName(world, project)
    const created = JSON.parse(
      await act(world, by, ['agent', 'create', agent, '--label', label, '-p', project, '--json']),
    )
    const listed = JSON.parse(await act(world, by, ['token', 'list', agent, '--json']))
    const { id } = listed[0]
    const text = created.token
    const token: Token = {
      id,
      text,
      kind: 'agent',
      project,
      agent,
      label,
      granter: by,
      isLive: true,
    }
    world.tokens.push(token)
    return true
  },

  issue_workload: async (world) => {
    const project = oneOf(world, [...world.projects.keys()])
    if (project === undefined) return false
    const [by, label] = [oneOf(world, admins(world)), `ci${world.next()}`]
    await needsName(world, project)
    const { id, token: text } = JSON.parse(
      await act(world, by, ['workload-token', 'issue', label, '-p', project, '--json']),
    )
    world.tokens.push({
      id,
      text,
      kind: 'workload',
      project,
      agent: null,
      label,
      granter: by,
      isLive: true,
    })
    return true
  },

  /** Live ones, and those that ended long ago; twice for each. */
  revoke: async (world) => {
    if (world.tokens.length === 0) return false
    const token = oneOf(world, world.tokens)
    const named = oneOf(world, [token.id, token.label])
    for (let times = world.random.between(1, 2); times > 0; times -= 1)
      await act(world, oneOf(world, admins(world)), revoking(token, named))
    token.isLive = false
    return true
  },

  grant: async (world) => {
    const live = world.tokens.filter(({ isLive, kind }) => isLive && kind === 'agent')
    if (live.length === 0) return false
    const { agent, label, project } = oneOf(world, live)
    const args = ['token', 'grant', agent ?? '', label, '-p', project]
    await act(world, oneOf(world, admins(world)), args)
    return true
  },

  /** A token that ended is refused with its reason. */
  grant_ended: async (world) => {
    const ended = world.tokens.filter(({ isLive, kind }) => !isLive && kind === 'agent')
    if (ended.length === 0) return false
    const { agent, label, project } = oneOf(world, ended)
    const args = ['token', 'grant', agent ?? '', label, '-p', project, '-w', world.workspace]
    const { code, err } = await attempt(world, oneOf(world, admins(world)), args)
    if (code === 0 || !/ended_token|ended/.test(err)) throw new Error(`${code} ${err}`)
    return true
  },

  /** Both machines of each permitted person. */
  at_once: async (world) => {
    const at = [...admins(world), ...admins(world)]
    const host = world.next()
    await Promise.all(
      at.map((who, index) =>
        act(world, who, ['allowlist', 'add', `a${host}-${index}.example.com`]),
      ),
    )
    return true
  },
}

/** An agent is for an environment that has secrets. */
async function needsName(world: World, project: string): Promise<void> {
  const names = world.projects.get(project)
  if (!names || names.size > 0) return
  names.add('KEY_1')
  const pair = `KEY_1=value-${world.next()}-of-a-secret`
  await act(world, oneOf(world, writers(world)), ['secrets', 'set', pair, '-p', project])
}

function keptOf({ tokens, random }: World, who: Someone): string[] {
  return tokens
    .filter(({ granter, isLive }) => granter === who && isLive)
    .flatMap(({ id }) => (random.between(0, 1) === 0 ? [id] : []))
}

function gone(world: World, who: Someone): true {
  world.roles.delete(who)
  world.left.add(who)
  return true
}

/** The server does not show the removal to a removed member, so the person confirms it. */
function withoutLeft({ left, workspaceId }: World, who: Someone): string[] {
  return left.has(who) ? ['--without', workspaceId] : []
}

function revoking({ kind, agent, project }: Token, named: string): string[] {
  return kind === 'agent'
    ? ['token', 'revoke', agent ?? '', named]
    : ['workload-token', 'revoke', named, '-p', project]
}
