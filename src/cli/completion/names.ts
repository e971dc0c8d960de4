/**
 * A cache of the server's names for completion, without values and keys. Responses to commands fill it, and changes
 * invalidate it.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { CallResult } from '../../client/http/api.ts'
import type { listAgents } from '../../features/agents/contract.ts'
import type {
  listEnvironments,
  listProjects,
  showCoverage,
} from '../../features/projects/contract.ts'
import type { listMembers, listWorkspacesEndpoint } from '../../features/workspaces/contract.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { type Account, FIRST_SLOT } from '../accounts/registry.ts'
import { readOwnFile } from '../files/read.ts'
import { replaceFile } from '../files/replace.ts'
import { homeOf } from '../host.ts'

type Env = Record<string, string | undefined>

/** Seconds for which cached names are used without a request. */
const FRESH_SECONDS = 60
/** Seconds after which the same names are written again, so that they stay fresh. */
const REWRITTEN_SECONDS = 30
/** Lists that are kept; the oldest is forgotten. */
const MAX_LISTS = 200

const lists = z.record(
  z.string(),
  z.object({ at: z.number(), names: z.array(z.object({ id: z.string(), name: z.string() })) }),
)

export type KnownName = { id: string; name: string }
export type KnownList = { names: readonly KnownName[]; isFresh: boolean }

/** The subject of a list, such as `secrets` with a project and an environment. */
export type ListName =
  | readonly ['workspaces']
  | readonly ['projects' | 'agents' | 'members', workspaceId: string]
  | readonly ['environments', projectId: string]
  | readonly ['secrets', projectId: string, environment: string]

export type Names = {
  get(list: ListName): KnownList | null
  /** Caches names from a response, or invalidates them after a change. */
  learn(endpoint: Endpoint, input: unknown, answer: unknown): void
}

/** Names from the responses for this account. */
export function namesOf(env: Env, { slot, server }: Pick<Account, 'slot' | 'server'>): Names {
  return openNames(env, slot === FIRST_SLOT ? server : `${server} ${slot}`)
}

/** The names of one server, if exactly one account is known there. */
export function openNames(env: Env, server: string): Names {
  const path = namesFile(env)
  return {
    get: (list) => {
      const known = read(path)[keyOf(server, list)]
      if (!known) return null
      return { names: known.names, isFresh: Date.now() - known.at < FRESH_SECONDS * 1_000 }
    },
    learn: (endpoint, input, answer) => {
      if (endpoint.method !== 'GET') return ageAll(path)
      const learned = namesIn(endpoint, input, answer)
      if (learned.length === 0) return
      const known = read(path)
      const isKept = ([list, names]: Learned[number]) => {
        const { at = 0, names: kept } = known[keyOf(server, list)] ?? {}
        return Date.now() - at < REWRITTEN_SECONDS * 1_000 && isDeepStrictEqual(kept, names)
      }
      if (learned.every(isKept)) return
      for (const [list, names] of learned) known[keyOf(server, list)] = { at: Date.now(), names }
      keep(path, known)
    },
  }
}

function ageAll(path: string): void {
  const known = read(path)
  for (const list of Object.values(known)) list.at = 0
  keep(path, known)
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

/** Lists that cannot be stored are requested again. */
function keep(path: string, known: z.output<typeof lists>): void {
  const newest = Object.entries(known).sort(([, one], [, other]) => other.at - one.at)
  try {
    replaceFile(path, JSON.stringify(Object.fromEntries(newest.slice(0, MAX_LISTS))))
  } catch {}
}

type Learned = [ListName, KnownName[]][]
type Parts = { params?: Record<string, string>; query?: Record<string, string> }

type Listing =
  | typeof listWorkspacesEndpoint
  | typeof listProjects
  | typeof listAgents
  | typeof listMembers
  | typeof listEnvironments
  | typeof showCoverage

/** By endpoint name, so that no contract is loaded. Empty for endpoints without names. */
function namesIn(endpoint: Endpoint, input: unknown, answer: unknown): Learned {
  const { params = {}, query = {} } = input as Parts
  const { workspace_id = '', project_id = '' } = { ...query, ...params }
  switch (endpoint.name as Listing['name']) {
    case 'workspaces.list':
      return [[['workspaces'], readNames(personalFirst(answer))]]
    case 'projects.list':
      return [[['projects', workspace_id], readNames(answer)]]
    case 'agents.list':
      return [[['agents', workspace_id], readNames(answer)]]
    case 'members.list':
      return [[['members', workspace_id], readNames(answer, 'email')]]
    case 'projects.environments':
      return [[['environments', project_id], environmentsIn(answer)]]
    case 'projects.coverage':
      return secretsIn(project_id, answer)
    default:
      return []
  }
}

function readNames(answer: unknown, field = 'name'): KnownName[] {
  const rows = answer as Record<string, unknown>[]
  return rows.map((row) => ({ id: String(row.id ?? ''), name: String(row[field]) }))
}

function personalFirst(answer: unknown) {
  const all = answer as CallResult<typeof listWorkspacesEndpoint>
  return all.toSorted(
    (one, other) => Number(other.type === 'personal') - Number(one.type === 'personal'),
  )
}

function asNames(names: readonly string[]): KnownName[] {
  return names.map((name) => ({ id: '', name }))
}

function environmentsIn(answer: unknown): KnownName[] {
  const { environments } = answer as CallResult<typeof listEnvironments>
  return asNames(Object.keys(environments))
}

function secretsIn(projectId: string, answer: unknown): Learned {
  const found = new Map<string, string[]>()
  for (const { key, environments } of (answer as CallResult<typeof showCoverage>).keys) {
    for (const [environment, isThere] of Object.entries(environments)) {
      if (isThere) found.set(environment, [...(found.get(environment) ?? []), key])
    }
  }
  return [...found].map(([environment, names]) => [
    ['secrets', projectId, environment],
    asNames(names),
  ])
}
