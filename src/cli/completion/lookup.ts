/** Names for completion: cached ones immediately, and the server's if it responds in time. */
import { type Api, openApi } from '../../client/http/api.ts'
import { listAgents } from '../../features/agents/contract.ts'
import { listEnvironments, listProjects, showCoverage } from '../../features/projects/contract.ts'
import { listMembers, listWorkspacesEndpoint } from '../../features/workspaces/contract.ts'
import { type Account, FIRST_SLOT } from '../accounts/registry.ts'
import { type Context, type GlobalOptions, openContext } from '../context.ts'
import type { Host } from '../host.ts'
import { withNameLearning } from '../session/session.ts'
import { type KnownName, type ListName, type Names, namesOf } from './names.ts'
import type { NameKind } from './sources.ts'

type Found = (names: readonly string[]) => void
type Lookup = { names: Names; api: () => Promise<Api>; context: Context }

/** Calls `found` with cached names, and again with the server's. */
export async function namesFor(
  host: Host,
  kind: NameKind,
  given: GlobalOptions,
  found: Found,
): Promise<void> {
  const context = openContext(host, given)
  const server = await context.server()
  const account = await context.accounts.chosen(server).then(
    (choice) => choice.account,
    () => ({ slot: FIRST_SLOT, server }),
  )
  const names = namesOf(context.env, account)
  const lookup = { names, api: apiOf(context, account, names), context }
  const say = (list: readonly KnownName[]) => found(list.map(({ name }) => name))
  if (kind === 'workspaces') return void (await lookUpList(lookup, ['workspaces'], say))
  const workspace = await chooseId(lookup, ['workspaces'], context.settings.workspace?.value)
  if (workspace === null) return
  if (kind === 'projects' || kind === 'agents' || kind === 'members')
    return void (await lookUpList(lookup, [kind, workspace], say))
  const project = await chooseId(lookup, ['projects', workspace], context.settings.project?.value)
  if (project === null) return
  const environment = context.settings.environment?.value ?? ''
  const wanted: ListName =
    kind === 'secrets' ? [kind, project, environment] : ['environments', project]
  await lookUpList(lookup, wanted, say)
}

/**
 * By the session as it is. It is not renewed here: this process may end before the new tokens are stored,
 * and the session with it.
 */
function apiOf(
  { accounts }: Context,
  { slot, server }: Pick<Account, 'slot' | 'server'>,
  names: Names,
): () => Promise<Api> {
  let opened: Promise<Api> | undefined
  const open = async (): Promise<Api> => {
    const stored = await (await accounts.store(slot)).read()
    if (stored?.server !== server) throw new Error('no session')
    return withNameLearning(
      openApi(server, () => stored.access),
      names,
    )
  }
  return () => {
    opened ??= open()
    return opened
  }
}

async function lookUpList(
  { names, api }: Lookup,
  list: ListName,
  say: (list: readonly KnownName[]) => void = () => {},
): Promise<readonly KnownName[]> {
  const known = names.get(list)
  if (known) say(known.names)
  if (known?.isFresh) return known.names
  try {
    await ask(await api(), list)
  } catch {
    return known?.names ?? []
  }
  const learned = names.get(list)?.names ?? []
  say(learned)
  return learned
}

/** The id of the one that is named; else the personal workspace, which comes first, or the only project. */
async function chooseId(
  lookup: Lookup,
  list: ListName,
  named: string | undefined,
): Promise<string | null> {
  const all = await lookUpList(lookup, list)
  const [only, another] = all
  const isObvious = only !== undefined && (list[0] === 'workspaces' || another === undefined)
  if (named === undefined) return isObvious ? only.id : null
  return all.find(({ id, name }) => id === named || name === named)?.id ?? null
}

async function ask(api: Api, [kind, id = '']: ListName): Promise<void> {
  switch (kind) {
    case 'workspaces':
      await api.list(listWorkspacesEndpoint, {})
      return
    case 'projects':
      await api.list(listProjects, { query: { workspace_id: id } })
      return
    case 'agents':
      await api.list(listAgents, { params: { workspace_id: id } })
      return
    case 'members':
      await api.list(listMembers, { params: { workspace_id: id } })
      return
    case 'environments':
      await api.call(listEnvironments, { params: { project_id: id } })
      return
    case 'secrets':
      // Only the first 500 names are completed.
      await api.call(showCoverage, { params: { project_id: id }, query: { limit: 500 } })
  }
}
