/**
 * What names stood for when this browser saw them first. What is listed under a known name with another id is written
 * to, read and granted for only when the person has accepted it.
 */

import type { Api } from '../../../client/http/api.ts'
import {
  type ChangedName,
  changedName,
  hiddenWorkspaces,
  type KnownNames,
  knownNames,
  type Named,
  type NameList,
  takenName,
} from '../../../client/known_names.ts'
import { isJoined, type WorkspaceEntry } from '../../../client/workspaces.ts'
import type { Endpoint } from '../../../http/endpoint.ts'
import type { BrowserMemory } from './memory.ts'
import type { WorkspaceNotice } from './reports.ts'

/** Of an endpoint's input, what says which place is meant. */
type Sent = {
  params?: Partial<Record<string, string>>
  query?: { workspace_id?: string }
  body?: { id?: string; name?: string; workspace_id?: string; project_id?: string }
}
type Heard = Sent & { workspaceId: string; answer: unknown }

export class SeenNames {
  readonly #known: KnownNames
  readonly #owner: () => string | null
  readonly #notify: (notice: WorkspaceNotice) => void
  /** What is refused, by id. */
  readonly #changed = new Map<string, ChangedName>()

  /** Of the person who works, whom `owner` names; nothing is kept where nobody does. */
  constructor(
    { names }: BrowserMemory,
    owner: () => string | null,
    notify: (notice: WorkspaceNotice) => void,
  ) {
    this.#owner = owner
    this.#notify = notify
    this.#known = knownNames({
      read: () => names.of(owner() ?? '') ?? {},
      change: (act) => {
        const id = owner()
        if (id !== null) names.put(id, (before) => act(before ?? {}))
      },
    })
  }

  /** The calls, of which names are learned, and which write to nothing that is refused. */
  over(api: Api): Api {
    return {
      ...api,
      call: async (endpoint, input) => {
        this.#demandPlaces(endpoint, input as Sent)
        const answer = await api.call(endpoint, input)
        this.#hear(endpoint, input as Sent, answer)
        return answer
      },
      list: async (endpoint, input) => {
        const answer = await api.list(endpoint, input)
        this.#hear(endpoint, input as Sent, answer)
        return answer
      },
    }
  }

  /** @throws ChangedName */
  demand(id: string | undefined): void {
    const fault = id === undefined ? undefined : this.#changed.get(id)
    if (fault) throw fault
  }

  /** Those whose name stood for another are as refused as those whose key is not trusted. */
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

  /** The person has given it this name. */
  renamed({ id, name }: Named): void {
    const list = this.#workspaces()
    this.#known.accept(list, name, [id, ...this.#known.idsOf(list, name)])
  }

  hidden(shown: readonly WorkspaceEntry[]): Named[] {
    return hiddenWorkspaces(this.#known, this.#workspaces(), shown.filter(isJoined))
  }

  /** From now on the name stands for it alone. */
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

  /** Somebody else works. */
  reset(): void {
    this.#changed.clear()
  }

  #workspaces(): NameList {
    return `workspaces of ${this.#owner() ?? ''}`
  }

  #learn(list: NameList, kind: string, listed: readonly Named[]): void {
    this.#known.learn(list, listed)
    for (const each of listed) {
      const fault = changedName(this.#known, list, each, `the ${kind} ${each.name}`)
      if (!fault) this.#changed.delete(each.id)
      else if (!this.#changed.has(each.id)) {
        this.#changed.set(each.id, fault)
        this.#notify(noticeOf(fault))
      }
    }
  }

  /** @throws ChangedName where it is something else that is known */
  #note(list: NameList, made: Named): void {
    const fault = takenName(this.#known, list, made)
    if (fault && fault.before.length === 0) throw fault
    // The person has just chosen the name for it; agents of one name may be in several projects.
    const before = list.startsWith('agents') ? this.#known.idsOf(list, made.name) : []
    this.#known.accept(list, made.name, [made.id, ...before])
  }

  #demandPlaces({ method }: Endpoint, { params = {}, body }: Sent): void {
    if (method === 'GET') return
    for (const id of [params.registration_id, ...projectsIn([params, body])]) this.demand(id)
  }

  #hear({ name }: Endpoint, { params, query, body }: Sent, answer: unknown): void {
    const workspaceId = params?.workspace_id ?? query?.workspace_id ?? body?.workspace_id ?? ''
    const heard = { params: params ?? {}, body: body ?? {}, workspaceId, answer }
    if (Object.hasOwn(this.#hearing, name)) this.#hearing[name]?.(heard)
  }

  /** By the name of the endpoint. */
  readonly #hearing: Record<string, (heard: Heard) => void> = {
    'projects.list': ({ workspaceId, answer }) =>
      this.#learn(`projects of ${workspaceId}`, 'project', answer as Named[]),
    'agents.list': ({ workspaceId, answer }) =>
      this.#learn(`agents of ${workspaceId}`, 'agent', answer as Named[]),
    'agents.get': ({ workspaceId, answer }) =>
      this.#learn(`agents of ${workspaceId}`, 'agent', [answer as Named]),
    'projects.create': (heard) => this.#note(`projects of ${heard.workspaceId}`, madeOf(heard)),
    'agents.register': (heard) => this.#note(`agents of ${heard.workspaceId}`, madeOf(heard)),
    'agents.register_in_project': (heard) =>
      this.#note(`agents of ${heard.workspaceId}`, madeOf(heard)),
    'agents.delete': ({ params }) => this.forget(params?.registration_id ?? ''),
    'workspaces.delete': ({ workspaceId }) => this.forget(workspaceId),
    'projects.delete_short': ({ params }) => this.forget(params?.project ?? ''),
  }
}

/** Wherever in the input they stand: keys are given in lists of places. */
function projectsIn(input: unknown): string[] {
  if (typeof input !== 'object' || input === null) return []
  return Object.entries(input).flatMap(([name, value]) =>
    name === 'project_id' && typeof value === 'string' ? [value] : projectsIn(value),
  )
}

/** A signed agent has the id that was signed. */
function madeOf({ body, answer }: Heard): Named {
  const { agent = answer } = answer as { agent?: unknown }
  return { id: body?.id ?? (agent as Named).id, name: body?.name ?? '' }
}

/** The list is that of a workspace, or of all. */
function noticeOf({ list, named, before }: ChangedName): WorkspaceNotice {
  const isWorkspace = list.startsWith('workspaces')
  const workspaceId = isWorkspace ? named.id : (list.split(' of ')[1] ?? '')
  return { workspaceId, workspace: named.name, kind: 'name', list, ...named, before }
}
