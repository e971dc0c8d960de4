/** Accepts the ID that a name has now, in place of the pinned one. */
import type { KnownNames, NameList } from '../../client/known_names.ts'
import type { Context } from '../context.ts'
import { requireItem } from '../named.ts'
import { requireConfirmation } from '../terminal/confirmed.ts'

type Named = { id: string; name: string }

type Place = {
  what: string
  known: KnownNames
  all: readonly Named[]
  names: NameList
  /** The default item, according to the server. */
  only?: Named | undefined
  usual?: NameList
}

export async function accept(
  { host, output }: Context,
  { what, known, all, names, only, usual }: Place,
  typed: string,
  options: { yes: boolean | undefined },
): Promise<void> {
  const { id, name } = requireItem(all, typed, { what, list: `${what} list` })
  const before = known.idsOf(names, name)
  const kept = usual && only?.id === id ? known.idsOf(usual, '') : [id]
  const isUsual = !kept.includes(id)
  if (before.includes(id) && !isUsual) {
    output.done(`${name} still means ${id}.`, { id, name, accepted: false })
    return
  }
  output.warn(`${name} meant ${before.join(', ')} and now means ${id}`)
  if (isUsual) output.warn(`the default ${what} was ${kept.join(', ')} and becomes ${id}`)
  await requireConfirmation(host, options, `Accept that the ${what} ${name} now means this one?`)
  // Agents of one name may be in several projects.
  const others = all.filter((each) => each.name === name && before.includes(each.id))
  known.accept(names, name, [id, ...others.map((each) => each.id)])
  if (usual && isUsual) known.accept(usual, '', [id])
  output.done(`${name} now means ${id}.`, { id, name, accepted: true })
}
