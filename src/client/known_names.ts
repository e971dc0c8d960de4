/**
 * Pins the workspace, project or agent of each name when it is first seen. Names are not signed: anyone who can rename,
 * or write to the database, could redirect a person who chooses by name. So a known name keeps its ID until the person
 * accepts another one. New names of known IDs are added.
 */
import { z } from 'zod'
import { appearance } from '../core/names/appearance.ts'
import { isSignedId } from '../sigchain/index.ts'
import { UntrustedKey } from './workspace_key.ts'

export type Named = { id: string; name: string }

/**
 * The names of an account or workspace. `default` is the default item, under an empty
 * name, and `home` the project of each agent, under its id; `keys of` an account are its public
 * keys, the newest first.
 */
export type NameList =
  | `${'' | 'default '}workspaces of ${string}`
  | `${'' | 'default '}projects of ${string}`
  | `${'' | 'home '}agents of ${string}`
  | `keys of ${string}`

export function namesOfProjects({ id }: { id: string }): NameList {
  return `projects of ${id}`
}

export function toDefaultProjectList({ id }: { id: string }): NameList {
  return `default projects of ${id}`
}

const entry = z.strictObject({ name: z.string(), ids: z.array(z.string()) })
/** List → names; several agents may have one, in different projects. */
export const nameLists = z.record(z.string(), z.array(entry))
export type NameLists = z.output<typeof nameLists>

/** The store of one server. */
export type NameStore = {
  read(): NameLists
  /** Calls `act` with the current content. Writes nothing if it returns undefined. */
  change(act: (lists: NameLists) => NameLists | undefined): void
}

export type KnownNames = {
  idsOf(list: NameList, name: string): readonly string[]
  /** The place of a known item, and its name. */
  placesOf(id: string): readonly { list: string; name: string }[]
  /** All IDs with their names. */
  allOf(list: NameList): readonly Named[]
  /** Adds unknown names. */
  learn(list: NameList, seen: readonly Named[]): void
  /** Replaces the ID of a name. */
  accept(list: NameList, name: string, ids: readonly string[]): void
  /** The IDs of items that this person deleted. */
  forget(id: string): void
}

/** Reads the store at each call, because another process may have changed it. */
export function createKnownNames({ read, change }: NameStore): KnownNames {
  return {
    idsOf: (list, name) => {
      const seen = appearance(name)
      return read()[list]?.find((known) => appearance(known.name) === seen)?.ids ?? []
    },
    placesOf: (id) =>
      Object.entries(read()).flatMap(([list, known]) =>
        known
          .filter(({ ids }) => !/^(default|home) /.test(list) && ids.includes(id))
          .map(({ name }) => ({ list, name })),
      ),
    allOf: (list) =>
      (read()[list] ?? []).flatMap(({ name, ids }) => ids.map((id) => ({ id, name }))),
    learn: (list, seen) =>
      change((lists) => {
        const { [list]: known = [] } = lists
        const before = new Set(known.map(({ name }) => appearance(name)))
        const unknown = Map.groupBy(
          seen.filter(({ name }) => !before.has(appearance(name))),
          ({ name }) => name,
        )
        if (unknown.size === 0) return undefined
        const learned = [...unknown].map(([name, all]) => ({ name, ids: all.map(({ id }) => id) }))
        return { ...lists, [list]: [...known, ...learned] }
      }),
    accept: (list, name, ids) =>
      change((lists) => {
        const seen = appearance(name)
        const others = lists[list]?.filter((known) => appearance(known.name) !== seen) ?? []
        return { ...lists, [list]: [...others, { name, ids: [...new Set(ids)] }] }
      }),
    forget: (id) =>
      change((lists) => {
        const left = Object.entries(lists).map(([list, known]) => [list, without(known, id)])
        return Object.fromEntries(left)
      }),
  }
}

function without(known: NameLists[string], gone: string) {
  return known
    .map(({ name, ids }) => ({ name, ids: ids.filter((id) => id !== gone) }))
    .filter(({ ids }) => ids.length > 0)
}

/** A name now means a different item, or the created item is a different one. */
export class ChangedName extends UntrustedKey {
  readonly list: NameList
  readonly named: Named
  /** The previous item of the name; empty if the ID is used already. */
  readonly before: readonly string[]

  constructor(message: string, list: NameList, named: Named, before: readonly string[]) {
    super(message)
    this.list = list
    // Without a key in the same object.
    this.named = { id: named.id, name: named.name }
    this.before = before
  }
}

/** `subject` is the named item, in words; null if the meaning of the name is unchanged. */
export function findChangedName(
  known: KnownNames,
  list: NameList,
  named: Named,
  subject: string,
): ChangedName | null {
  const before = known.idsOf(list, named.name)
  if (before.includes(named.id)) return null
  const message = `${subject} was ${before.map(formatId).join(' or ')}, but the server now shows ${formatId(named.id)}`
  return new ChangedName(message, list, named, before)
}

/** A created item must not be a known one, and no project takes the name of another. */
export function findTakenName(known: KnownNames, list: NameList, named: Named): ChangedName | null {
  const { id, name } = named
  const other = known.placesOf(id).find((place) => place.list !== list || place.name !== name)
  if (other) {
    const message = `the server reports ${name} as ${id}, which is ${other.name} on this machine`
    return new ChangedName(message, list, named, [])
  }
  const before = known.idsOf(list, name)
  // Agents of one name may be in several projects.
  if (!list.startsWith('projects') || before.length === 0 || before.includes(id)) return null
  const message = `${name} was ${before.map(formatId).join(' or ')}, but the new one is ${formatId(id)}`
  return new ChangedName(message, list, named, before)
}

function formatId(id: string): string {
  return isSignedId(id) ? `${id} (signed)` : id
}

/** Known signed workspaces that the server hides: keys would stay valid there. */
export function listHiddenWorkspaces(
  known: KnownNames,
  list: NameList,
  shown: readonly { id: string }[],
): Named[] {
  const ids = new Set(shown.map(({ id }) => id))
  return known.allOf(list).filter(({ id }) => isSignedId(id) && !ids.has(id))
}
