/**
 * Pinned names: the IDs that this browser first saw for each name. If a known name has another ID, nothing is read from
 * it, written to it or granted for it until the user accepts the change.
 */

import type { Api } from '../../../client/http/api.ts'
import {
  type ChangedName,
  createKnownNames,
  findChangedName,
  findTakenName,
  type KnownNames,
  listHiddenWorkspaces,
  type Named,
  type NameList,
} from '../../../client/known_names.ts'
import { isJoined, type WorkspaceEntry } from '../../../client/workspaces.ts'
import type { Endpoint } from '../../../http/endpoint.ts'
import type { BrowserMemory } from './memory.ts'
import type { WorkspaceNotice } from './reports.ts'

/** The part of an endpoint's input that names a place. */
type CallInput = {
  params?: Partial<Record<string, string>>
  query?: { workspace_id?: string }
  body?: { id?: string; name?: string; workspace_id?: string; project_id?: string }
}
type Call = CallInput & { workspaceId: string; answer: unknown }

export class SeenNames {
  readonly #known: KnownNames
  readonly #owner: () => string | null
  readonly #notify: (notice: WorkspaceNotice) => void
  /** Blocked names by ID. */
  readonly #changed = new Map<string, ChangedName>()

  /** The pins of the user that `owner` returns. Without a user, nothing is stored. */
  constructor(
    { names }: BrowserMemory,
    owner: () => string | null,
    notify: (notice: WorkspaceNotice) => void,
  ) {
    this.#owner = owner
    this.#notify = notify
    this.#known = createKnownNames({
      read: () => names.of(owner() ?? '') ?? {},
      change: (act) => {
        const id = owner()
        if (id !== null) names.put(id, (before) => act(before ?? {}))
      },
    })
  }

  /** Wraps calls: learns names from answers, and rejects writes to blocked names. */
  wrap(api: Api): Api {
    return {
      ...api,
      call: async (endpoint, input) => {
        this.#demandPlaces(endpoint, input as CallInput)
        const answer = await api.call(endpoint, input)
        this.#learnFrom(endpoint, input as CallInput, answer)
        return answer
      },
      list: async (endpoint, input) => {
        const answer = await api.list(endpoint, input)
        this.#learnFrom(endpoint, input as CallInput, answer)
        return answer
      },
    }
  }

  /** @throws ChangedName */
  demand(id: string | undefined): void {
    const fault = id === undefined ? undefined : this.#changed.get(id)
    if (fault) throw fault
  }

  /** Blocks workspaces with a changed name, like those with an untrusted key. */
  ofWorkspaces(entries: readonly WorkspaceEntry[]): WorkspaceEntry[] {
    this.#learn(this.#workspaces(), 'workspace', entries.filter(isJoined))
    return entries.map((entry) => {
      const fault = entry.fault ?? this.#changed.get(entry.id) ?? null
      return fault ? { ...entry, fault, open: null } : entry
    })
  }

  noteWorkspace(made: Named): void {
    this.#note(this.#workspaces(), made)
  }

  /** The user renamed it. */
  recordRename({ id, name }: Named): void {
    const list = this.#workspaces()
    this.#known.accept(list, name, [id, ...this.#known.idsOf(list, name)])
  }

  listHiddenWorkspaces(shown: readonly WorkspaceEntry[]): Named[] {
    return listHiddenWorkspaces(this.#known, this.#workspaces(), shown.filter(isJoined))
  }

  /** Pins the name to this ID alone. */
  accept(id: string): void {
    const fault = this.#changed.get(id)
    if (!fault) return
    this.#known.accept(fault.list, fault.named.name, [id])
    this.#changed.delete(id)
  }

  forget(id: string): void {
    this.#known.forget(id)
    this.#changed.delete(id)
  }

  /** Another user signed in. */
  reset(): void {
    this.#changed.clear()
  }

  #workspaces(): NameList {
    return `workspaces of ${this.#owner() ?? ''}`
  }

  #learn(list: NameList, kind: string, listed: readonly Named[]): void {
    this.#known.learn(list, listed)
    for (const each of listed) {
      const fault = findChangedName(this.#known, list, each, `the ${kind} ${each.name}`)
      if (!fault) this.#changed.delete(each.id)
      else if (!this.#changed.has(each.id)) {
        this.#changed.set(each.id, fault)
        this.#notify(noticeOf(fault))
      }
    }
  }

  /** @throws ChangedName if the name or ID is pinned to something else */
  #note(list: NameList, made: Named): void {
    const fault = findTakenName(this.#known, list, made)
    if (fault && fault.before.length === 0) throw fault
    // The user has just chosen this name. Agents in several projects may share a name.
    const before = list.startsWith('agents') ? this.#known.idsOf(list, made.name) : []
    this.#known.accept(list, made.name, [made.id, ...before])
  }

  #demandPlaces({ method }: Endpoint, { params = {}, body }: CallInput): void {
    if (method === 'GET') return
    for (const id of [params.registration_id, ...projectsIn([params, body])]) this.demand(id)
  }

  #learnFrom({ name }: Endpoint, { params, query, body }: CallInput, answer: unknown): void {
    const workspaceId = params?.workspace_id ?? query?.workspace_id ?? body?.workspace_id ?? ''
    const learned = { params: params ?? {}, body: body ?? {}, workspaceId, answer }
    if (Object.hasOwn(this.#learners, name)) this.#learners[name]?.(learned)
  }

  /** Learners by endpoint. */
  readonly #learners: Record<string, (call: Call) => void> = {
    'projects.list': ({ workspaceId, answer }) =>
      this.#learn(`projects of ${workspaceId}`, 'project', answer as Named[]),
    'agents.list': ({ workspaceId, answer }) =>
      this.#learn(`agents of ${workspaceId}`, 'agent', answer as Named[]),
    'agents.get': ({ workspaceId, answer }) =>
      this.#learn(`agents of ${workspaceId}`, 'agent', [answer as Named]),
    'projects.create': (call) => this.#note(`projects of ${call.workspaceId}`, madeOf(call)),
    'agents.register': (call) => this.#note(`agents of ${call.workspaceId}`, madeOf(call)),
    'agents.register_in_project': (call) =>
      this.#note(`agents of ${call.workspaceId}`, madeOf(call)),
    'agents.delete': ({ params }) => this.forget(params?.registration_id ?? ''),
    'workspaces.delete': ({ workspaceId }) => this.forget(workspaceId),
    'projects.delete_short': ({ params }) => this.forget(params?.project ?? ''),
  }
}

/** Project IDs anywhere in the input, also in lists of places. */
function projectsIn(input: unknown): string[] {
  if (typeof input !== 'object' || input === null) return []
  return Object.entries(input).flatMap(([name, value]) =>
    name === 'project_id' && typeof value === 'string' ? [value] : projectsIn(value),
  )
}

/** A signed agent has the ID that was signed. */
function madeOf({ body, answer }: Call): Named {
  const { agent = answer } = answer as { agent?: unknown }
  return { id: body?.id ?? (agent as Named).id, name: body?.name ?? '' }
}

/** A list belongs to one workspace, or contains all workspaces. */
function noticeOf({ list, named, before }: ChangedName): WorkspaceNotice {
  const isWorkspace = list.startsWith('workspaces')
  const workspaceId = isWorkspace ? named.id : (list.split(' of ')[1] ?? '')
  return { workspaceId, workspace: named.name, kind: 'name', list, ...named, before }
}
