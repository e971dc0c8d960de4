/**
 * Tokens of agents that this machine keeps for its person, in the same place and under the same key as the
 * session. They end with it: signing out removes them.
 */

import type { Context } from '../context.ts'
import { workspaceScope } from '../scope.ts'
import { CliError } from '../terminal/cli_error.ts'
import { agentNamed } from '../tokens/agents.ts'
import { requireToken } from '../tokens/given_token.ts'
import type { Session } from './session.ts'

type Options = { token: string | undefined; agent: string | undefined }

/** Replaces the saved token of the agent; `null` removes it. */
export async function keepToken(
  { store, stored }: Session,
  agentId: string,
  token: string | null,
): Promise<void> {
  if (token === null && stored.agentTokens[agentId] === undefined) return
  await store.exclusively(async () => {
    // Another command may have written since.
    const latest = await store.read()
    const known = latest?.email === stored.email ? latest.agentTokens : stored.agentTokens
    const others = Object.entries(known).filter(([id]) => id !== agentId)
    const own = token === null ? [] : [[agentId, token]]
    stored.agentTokens = Object.fromEntries([...others, ...own])
    await store.write({ ...(latest ?? stored), agentTokens: stored.agentTokens })
  })
}

/** With an agent that was deleted: a token that stays here is worth nothing. */
export async function forgetToken(
  { output }: Context,
  session: Session,
  agentId: string,
): Promise<void> {
  try {
    await keepToken(session, agentId, null)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    output.warn(`Its token stays on this machine and is rejected: ${error.message}.`)
  }
}

/** The token of `--agent`, else of `--token` or SERVICE_TOKEN. @throws CliError without a token */
export async function tokenFor(context: Context, options: Options): Promise<string> {
  if (options.agent === undefined) return requireToken(context, options)
  if (options.token !== undefined)
    throw new CliError('usage', '--agent and --token exclude each other')
  const scope = await workspaceScope(context)
  const agent = await agentNamed(context, scope, options.agent)
  return readSavedToken(scope.session, agent)
}

/** @throws CliError where this machine keeps none of the agent */
export function readSavedToken({ stored }: Session, agent: { id: string; name: string }): string {
  const { [agent.id]: token } = stored.agentTokens
  if (token !== undefined) return token
  throw new CliError(
    'token_required',
    `this machine has no token of ${agent.name}`,
    `create one: cloakroom token issue ${agent.name} --save`,
  )
}
