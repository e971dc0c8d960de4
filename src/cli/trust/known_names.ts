/**
 * Which workspace, project or agent a name stood for when it was seen first. Names are not signed: who may rename, or
 * writes the database, could lead a person who chooses by name to another place. So a name that is known stands for
 * what it stood for, until the person accepts another. A new name of what is known is learned.
 */
import { join } from 'node:path'
import { z } from 'zod'
import { isUuid } from '../../platform/http/validate.ts'
import { isSignedId } from '../../sigchain/index.ts'
import { changeOwnJson } from '../files/change.ts'
import { readOwnJson } from '../files/read.ts'
import { type Kind, oneNamed } from '../named.ts'
import { configDirectory } from '../settings.ts'
import { CliError } from '../terminal/cli_error.ts'

type Named = { id: string; name: string }

/**
 * Of an account, or of a workspace: what has names. `default` says what is meant where nothing is named, under an empty
 * name, and `home` the project of each agent, under its id; `keys of` an account are its public
 * keys, the newest first.
 */
export type NameList =
  | `${'' | 'default '}workspaces of ${string}`
  | `${'' | 'default '}projects of ${string}`
  | `${'' | 'home '}agents of ${string}`
  | `keys of ${string}`

const entry = z.strictObject({ name: z.string(), ids: z.array(z.string()) })
/** Server → list → names; several agents may have one, in different projects. */
const file = z.record(z.string(), z.record(z.string(), z.array(entry)))

const WORDS = {
  says: 'what names stood for',
  help: 'look whether names lead where they should: cloakroom workspace list --json',
}

export type KnownNames = {
  idsOf(list: NameList, name: string): readonly string[]
  /** Where it is known, and by which name. */
  placesOf(id: string): readonly { list: string; name: string }[]
  /** Ids of all that has a name there, with it. */
  allOf(list: NameList): readonly Named[]
  /** Keeps the names of which nothing was known. */
  learn(list: NameList, seen: readonly Named[]): void
  /** In the place of what the name stood for. */
  accept(list: NameList, name: string, ids: readonly string[]): void
  /** Of what this person has deleted. */
  forget(id: string): void
}

/** Reads the file at each call: another command may have changed it. */
export function openKnownNames(
  env: Record<string, string | undefined>,
  server: string,
): KnownNames {
  const path = join(configDirectory(env), 'known_names.json')
  type Lists = z.output<typeof file>[string]
  const change = (act: (lists: Lists) => Lists | undefined) =>
    changeOwnJson(path, file, WORDS, (all) => {
      const next = act(all[server] ?? {})
      return next && { ...all, [server]: next }
    })
  return {
    idsOf: (list, name) =>
      readOwnJson(path, file, WORDS)[server]?.[list]?.find((known) => known.name === name)?.ids ??
      [],
    placesOf: (id) =>
      Object.entries(readOwnJson(path, file, WORDS)[server] ?? {}).flatMap(([list, known]) =>
        known
          .filter(({ ids }) => !/^(default|home) /.test(list) && ids.includes(id))
          .map(({ name }) => ({ list, name })),
      ),
    allOf: (list) =>
      (readOwnJson(path, file, WORDS)[server]?.[list] ?? []).flatMap(({ name, ids }) =>
        ids.map((id) => ({ id, name })),
      ),
    learn: (list, seen) =>
      change((lists) => {
        const { [list]: known = [] } = lists
        const before = new Set(known.map(({ name }) => name))
        const unknown = Map.groupBy(
          seen.filter(({ name }) => !before.has(name)),
          ({ name }) => name,
        )
        if (unknown.size === 0) return undefined
        const learned = [...unknown].map(([name, all]) => ({ name, ids: all.map(({ id }) => id) }))
        return { ...lists, [list]: [...known, ...learned] }
      }),
    accept: (list, name, ids) =>
      change((lists) => {
        const others = lists[list]?.filter((known) => known.name !== name) ?? []
        return { ...lists, [list]: [...others, { name, ids: [...new Set(ids)] }] }
      }),
    forget: (id) =>
      change((lists) => {
        const left = Object.entries(lists).map(([list, known]) => [list, without(known, id)])
        return Object.fromEntries(left)
      }),
  }
}

function without(known: readonly z.output<typeof entry>[], gone: string) {
  return known
    .map(({ name, ids }) => ({ name, ids: ids.filter((id) => id !== gone) }))
    .filter(({ ids }) => ids.length > 0)
}

/** By id, or by a name that stands for what it stood for. @throws CliError */
export function knownOne<T extends Named>(
  known: KnownNames,
  list: NameList,
  all: readonly T[],
  typed: string,
  kind: Kind,
): T {
  // An id is no name: who calls theirs by the id of another would be taken for that one.
  const meant = isUuid(typed) ? all.filter(({ id }) => id === typed) : all
  const found = oneNamed(meant, typed, kind)
  if (found.id !== typed) demandKnown(known, list, found, `the ${kind.what} ${typed}`)
  return found
}

/** `subject` is what was meant, in words. @throws CliError `changed_name` */
export function demandKnown(
  known: KnownNames,
  list: NameList,
  { id, name }: Named,
  subject: string,
): void {
  const ids = known.idsOf(list, name)
  if (ids.includes(id)) return
  const [what = ''] = list.match(/workspace|project|agent/) ?? []
  throw new CliError(
    'changed_name',
    `${subject} was ${ids.map(inWords).join(' or ')} when it was seen before, and the server shows ${inWords(id)}; nothing was done`,
    `who renamed it? The id says which one is meant; if it is the new one: cloakroom ${what} accept-name ${id}`,
  )
}

/** Of an account: keys that others have replaced do not come back. @throws CliError `changed_key` */
export function learnKeys(known: KnownNames, email: string, ...newer: readonly string[]): void {
  const list: NameList = `keys of ${email.toLowerCase()}`
  const [newest, ...older] = known.idsOf(list, '')
  const [now = ''] = newer
  if (older.includes(now)) {
    throw new CliError(
      'changed_key',
      `the server shows keys of ${email} that were replaced before; nothing was kept`,
      'whoever runs the server has to look into it: was it restored from a backup?',
    )
  }
  if (newest !== now) known.accept(list, '', [...newer, ...(newest ? [newest] : []), ...older])
}

/** What the server says it just made is none that is known, and no project takes the name of another. @throws CliError `changed_name` */
export function demandNew(known: KnownNames, list: NameList, { id, name }: Named): void {
  const other = known.placesOf(id).find((place) => place.list !== list || place.name !== name)
  if (other) {
    throw new CliError(
      'changed_name',
      `the server says that ${name} was made as ${id}, which is ${other.name} here; it is not used`,
      'whoever runs the server has to look into it',
    )
  }
  const before = known.idsOf(list, name)
  // Agents of one name may be in several projects.
  if (!list.startsWith('projects') || before.length === 0 || before.includes(id)) return
  throw new CliError(
    'changed_name',
    `${name} was ${before.map(inWords).join(' or ')} when it was seen before, and the one that was made now is ${inWords(id)}; it is not used`,
    `was that one deleted? If the new one is meant: cloakroom project accept-name ${id}`,
  )
}

function inWords(id: string): string {
  return isSignedId(id) ? `${id} (signed)` : id
}
