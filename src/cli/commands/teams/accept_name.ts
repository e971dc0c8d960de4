/** Taking what a name stands for now, in the place of what it stood for. */

import type { KnownNames, NameList } from '../../../client/known_names.ts'
import { isJoined } from '../../../client/workspaces.ts'
import type { confirmOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import type { Context } from '../../context.ts'
import { oneNamed } from '../../named.ts'
import { namesOfProjects, projectsOf, usualProject, workspaceScope } from '../../scope.ts'
import { namesOfWorkspaces, obvious, usualList } from '../../session/chosen.ts'
import { confirmed } from '../../terminal/confirmed.ts'
import { agentsOf, namesOfAgents } from '../../tokens/agents.ts'

type Confirm = typeof confirmOptions

export const ofWorkspace: Action<Confirm> = async (context, [typed = ''], options) => {
  const session = await context.session()
  const active = (await session.workspaces()).filter(isJoined)
  const lists = { names: namesOfWorkspaces(session), usual: usualList(session) }
  const place = { what: 'workspace', known: session.knownNames, ...lists }
  await accept(context, { ...place, all: active, only: obvious(active) }, typed, options)
  return undefined
}

export const ofProject: Action<Confirm> = async (context, [typed = ''], options) => {
  const scope = await workspaceScope(context)
  const all = await projectsOf(scope)
  const { session, workspace } = scope
  const lists = { names: namesOfProjects(workspace), usual: usualProject(workspace) }
  const only = all.length === 1 ? all[0] : undefined
  const place = { what: 'project', known: session.knownNames, ...lists }
  await accept(context, { ...place, all, only }, typed, options)
  return undefined
}

export const ofAgent: Action<Confirm> = async (context, [typed = ''], options) => {
  const scope = await workspaceScope(context)
  const all = await agentsOf(scope)
  const place = { what: 'agent', known: scope.session.knownNames }
  const names = namesOfAgents(scope.workspace)
  await accept(context, { ...place, names, all }, typed, options)
  return undefined
}

type Named = { id: string; name: string }
type Place = {
  what: string
  known: KnownNames
  all: readonly Named[]
  names: NameList
  /** What is meant where nothing is named, by the word of the server. */
  only?: Named | undefined
  usual?: NameList
}

async function accept(
  { host, output }: Context,
  { what, known, all, names, only, usual }: Place,
  typed: string,
  options: { yes: boolean | undefined },
): Promise<void> {
  const { id, name } = oneNamed(all, typed, { what, list: `${what} list` })
  const before = known.idsOf(names, name)
  const kept = usual && only?.id === id ? known.idsOf(usual, '') : [id]
  const isUsual = !kept.includes(id)
  if (before.includes(id) && !isUsual) {
    output.done(`${name} stands for ${id}, as before.`, { id, name, accepted: false })
    return
  }
  output.warn(`${name} stood for ${before.join(', ')}, and is ${id} now`)
  if (isUsual)
    output.warn(`where no ${what} is named, ${kept.join(', ')} was meant: it is ${id} then`)
  await confirmed(
    host,
    options,
    `Does the ${what} ${name} stand for the one that is shown? Accept it?`,
  )
  // Agents of one name may be in several projects.
  const others = all.filter((each) => each.name === name && before.includes(each.id))
  known.accept(names, name, [id, ...others.map((each) => each.id)])
  if (usual && isUsual) known.accept(usual, '', [id])
  output.done(`${name} stands for ${id} now.`, { id, name, accepted: true })
}
