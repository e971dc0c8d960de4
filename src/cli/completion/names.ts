/**
 * Names that the server knows, remembered for completion: no values, no keys. They come from the answers
 * that commands get anyway; whatever a command changes makes them old.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { listAgents } from '../../features/agents/contract.ts'
import { listEnvironments, listProjects, showCoverage } from '../../features/projects/contract.ts'
import { listMembers, listWorkspacesEndpoint } from '../../features/workspaces/contract.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { type Account, FIRST_SLOT } from '../accounts/registry.ts'
import { readOwnFile } from '../files/read.ts'
import { replaceFile } from '../files/replace.ts'
import { homeOf } from '../host.ts'

type Env = Record<string, string | undefined>

/** Seconds for which what was remembered is taken for true without asking. */
const FRESH_SECONDS = 60
/** Lists that are kept; the oldest is forgotten. */
const MAX_LISTS = 200

const lists = z.record(
  z.string(),
  z.object({ at: z.number(), names: z.array(z.object({ id: z.string(), name: z.string() })) }),
)

export type KnownName = { id: string; name: string }
export type KnownList = { names: readonly KnownName[]; isFresh: boolean }

/** What a list is of, such as `secrets` of a project and an environment. */
export type ListName =
  | readonly ['workspaces']
  | readonly ['projects' | 'agents' | 'members', workspaceId: string]
  | readonly ['environments', projectId: string]
  | readonly ['secrets', projectId: string, environment: string]

export type Names = {
  get(list: ListName): KnownList | null
  /** Takes what an answer of the server says of names, or that a call changed some. */
  learn(endpoint: Endpoint, input: unknown, answer: unknown): void
}

/** What the answers for this account said. */
export function namesOf(env: Env, { slot, server }: Pick<Account, 'slot' | 'server'>): Names {
  return openNames(env, slot === FIRST_SLOT ? server : `${server} ${slot}`)
}

/** Of one server, where one account is known at it. */
export function openNames(env: Env, server: string): Names {
  const path = namesFile(env)
  return {
    get: (list) => {
      const known = read(path)[keyOf(server, list)]
      if (!known) return null
      return { names: known.names, isFresh: Date.now() - known.at < FRESH_SECONDS * 1_000 }
    },
    learn: (endpoint, input, answer) => {
      const learned = endpoint.method === 'GET' ? namesIn(endpoint, input, answer) : null
      if (endpoint.method === 'GET' && learned === null) return
      change(path, (known) => {
        if (learned === null) for (const list of Object.values(known)) list.at = 0
        for (const [list, names] of learned ?? [])
          known[keyOf(server, list)] = { at: Date.now(), names }
      })
    },
  }
}

/** For those who log out. */
export function forgetNames(env: Env): void {
  rmSync(namesFile(env), { force: true })
}

function namesFile(env: Env): string {
  return join(env.XDG_CACHE_HOME || join(homeOf(env), '.cache'), 'cloakroom', 'names.json')
}

function keyOf(server: string, list: ListName): string {
  return [server, ...list].join(' ')
}

function read(path: string): z.output<typeof lists> {
  try {
    const text = readOwnFile(path)
    return text === null ? {} : lists.parse(JSON.parse(text))
  } catch {
    return {}
  }
}

/** What cannot be remembered is asked for again. */
function change(path: string, act: (known: z.output<typeof lists>) => void): void {
  const known = read(path)
  act(known)
  const newest = Object.entries(known).sort(([, one], [, other]) => other.at - one.at)
  try {
    replaceFile(path, JSON.stringify(Object.fromEntries(newest.slice(0, MAX_LISTS))))
  } catch {}
}

type Learned = [ListName, KnownName[]][]
type Parts = { params?: Record<string, string>; query?: Record<string, string> }

/** By endpoint, each with the schema of its own answer. `null` where nothing is to be learned. */
function namesIn(endpoint: Endpoint, input: unknown, answer: unknown): Learned | null {
  const { params = {}, query = {} } = input as Parts
  const { workspace_id = '', project_id = '' } = { ...query, ...params }
  switch (endpoint.name) {
    case listWorkspacesEndpoint.name:
      return [[['workspaces'], namedIn(personalFirst(answer))]]
    case listProjects.name:
      return [[['projects', workspace_id], namedIn(answer)]]
    case listAgents.name:
      return [[['agents', workspace_id], namedIn(answer)]]
    case listMembers.name:
      return [[['members', workspace_id], namedIn(answer, 'email')]]
    case listEnvironments.name:
      return [[['environments', project_id], environmentsIn(answer)]]
    case showCoverage.name:
      return secretsIn(project_id, answer)
    default:
      return null
  }
}

function namedIn(answer: unknown, field = 'name'): KnownName[] {
  const rows = answer as Record<string, unknown>[]
  return rows.map((row) => ({ id: String(row.id ?? ''), name: String(row[field]) }))
}

function personalFirst(answer: unknown) {
  const all = listWorkspacesEndpoint.result.parse(answer)
  return all.sort(
    (one, other) => Number(other.type === 'personal') - Number(one.type === 'personal'),
  )
}

function asNames(names: readonly string[]): KnownName[] {
  return names.map((name) => ({ id: '', name }))
}

function environmentsIn(answer: unknown): KnownName[] {
  const { environments } = listEnvironments.result.parse(answer)
  return asNames(Object.keys(environments))
}

function secretsIn(projectId: string, answer: unknown): Learned {
  const found = new Map<string, string[]>()
  for (const { key, environments } of showCoverage.result.parse(answer).keys) {
    for (const [environment, isThere] of Object.entries(environments)) {
      if (isThere) found.set(environment, [...(found.get(environment) ?? []), key])
    }
  }
  return [...found].map(([environment, names]) => [
    ['secrets', projectId, environment],
    asNames(names),
  ])
}
