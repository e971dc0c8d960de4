/** Tokens as the commands for agents and workloads find them and hand them out. They are made here: the server never sees one. */
import { listTokensOf } from '../../client/actions/read_tokens.ts'
import type { Context } from '../context.ts'
import { type ProjectScope, placeOf, projectScope, type WorkspaceScope } from '../scope.ts'
import { keepToken } from '../session/saved_tokens.ts'
import type { Session } from '../session/session.ts'
import { CliError } from '../terminal/cli_error.ts'
import type { Row } from '../terminal/table.ts'
import { type Agent, agentNamed, requireGrantedToken } from './agents.ts'
import { showToken } from './issued_token.ts'

type Issued = { agent: { id: string; name: string }; token: string; about: Row }

/** Shows the token the only time that anybody will, or keeps it unseen. */
export async function handOut(
  context: Context,
  session: Session,
  { agent, token, about }: Issued,
  { save }: { save: boolean | undefined },
): Promise<void> {
  if (!save) {
    showToken(context, token, about)
    return
  }
  try {
    await keepToken(session, agent.id, token)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    context.output.warn(`The token was not saved on this machine: ${error.message}.`)
    showToken(context, token, about)
    return
  }
  context.output.record({ ...about, token: `saved in ${session.store.location}` }, agent.id)
  context.output.note(`Use it with: cloakroom call --agent ${agent.name}`)
}

/** The chosen environment, and a token of an agent. @throws CliError */
export async function chooseAgentToken(context: Context, [name = '', typed = '']: string[]) {
  const scope = await projectScope(context)
  const agent = await agentNamed(context, scope, name)
  const token = await tokenOfAgent(scope, agent, typed)
  const registration = { workspace_id: scope.workspace.id, registration_id: agent.id }
  return { ...scope, agent, token, params: { ...registration, token_id: token.id } }
}

async function tokenOfAgent(scope: WorkspaceScope, { id, name }: Agent, typed: string) {
  const all = await agentTokensOf(scope, { id })
  return requireGrantedToken(scope, { agentId: id }, all, typed, `token list ${name}`)
}

export function agentTokensOf(scope: WorkspaceScope, { id: agentId }: { id: string }) {
  return listTokensOf(placeOf(scope), { agentId })
}

export function workloadTokensOf(scope: ProjectScope) {
  return listTokensOf(placeOf(scope), { projectId: scope.project.id })
}
