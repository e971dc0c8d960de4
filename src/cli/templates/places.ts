/**
 * The environments that a template may name. A template and its program can be untrusted, so only the command's
 * environment and explicitly allowed ones are read, not those that the template names.
 */
import { isUuid } from '../../core/validation/validate.ts'
import type { Context } from '../context.ts'
import { chooseProject, projectNamed, projectsOf, workspaceScope } from '../scope.ts'
import { CliError } from '../terminal/cli_error.ts'
import { environmentFor } from '../tokens/given_token.ts'
import { openForToken } from '../tokens/token_source.ts'
import { NOTHING_OPENED, type Opened } from '../values/delivered.ts'
import { openForMember } from '../values/session_source.ts'
import type { FindPlace, Place } from './fill.ts'
import type { NamedPlace } from './parse.ts'

/** Whether a person's own values count. */
type Form = { mine: boolean | undefined }

type Located = { id: string; title: string; open(): Promise<Opened> }
/** `null` for the environment of the command. @throws CliError if it does not exist */
type Locate = (named: NamedPlace | null) => Located

/** With a token, otherwise with the session. @throws CliError, ApiError */
export async function openPlaces(
  context: Context,
  token: string | undefined,
  from: readonly NamedPlace[],
  form: Form,
): Promise<FindPlace> {
  const locate =
    token === undefined ? await locateByMember(context, form) : locateByToken(context, token)
  const meant = new Set(from.map((named) => locate(named).id))
  const own = attempt(() => locate(null))
  if (!(own instanceof CliError)) meant.add(own.id)
  const byId = new Map<string, Place>()
  const byText = new Map<string, Place>()
  const find = (named: NamedPlace | null): Place => {
    const located = attempt(() => locate(named))
    if (located instanceof CliError) {
      const title = named === null ? 'no project' : textOf(named)
      return { title, fault: located.message, isMeant: false, open: async () => NOTHING_OPENED }
    }
    const { id } = located
    const place = byId.get(id) ?? { ...located, fault: null, isMeant: meant.has(id) }
    byId.set(id, place)
    return place
  }
  return (named) => {
    const text = named === null ? '' : textOf(named)
    const place = byText.get(text) ?? find(named)
    byText.set(text, place)
    return place
  }
}

function textOf({ project, environment }: NamedPlace): string {
  return `${project}/${environment}`
}

function attempt<T>(act: () => T): T | CliError {
  try {
    return act()
  } catch (error) {
    if (error instanceof CliError) return error
    throw error
  }
}

async function locateByMember(context: Context, form: Form): Promise<Locate> {
  const scope = await workspaceScope(context)
  const projects = await projectsOf(scope)
  return (named) => {
    const project =
      named === null
        ? chooseProject(context, scope, projects)
        : projectNamed(scope, projects, named.project)
    const environment = named?.environment ?? context.setting('environment')
    return {
      id: `${project.id}/${environment}`,
      title: `${project.name}/${environment}`,
      open: async () =>
        (await openForMember(context, { ...scope, project, environment }, form)) ?? NOTHING_OPENED,
    }
  }
}

/** A token's own project needs no name. Other projects of a token are found by ID. */
function locateByToken(context: Context, token: string): Locate {
  const { project } = context.settings
  const ownProject = project?.value ?? ''
  const own = { project: ownProject, environment: context.setting('environment') }
  return (named) => {
    const isOwn = named === null || textOf(named) === textOf(own)
    const { project, environment } = named ?? own
    if (!isUuid(project) && project !== ownProject) {
      throw new CliError('usage', 'names a project: with a token, use the project ID')
    }
    const open = async () => {
      const place = named ? { environment } : await environmentFor(context, token, 'server')
      return openForToken(context, token, {
        ...(isUuid(project) ? { project_id: project } : {}),
        ...place,
      })
    }
    return {
      id: textOf({ project, environment }),
      title:
        isOwn && ownProject === ''
          ? 'the environment of the token'
          : textOf({ project, environment }),
      open,
    }
  }
}
