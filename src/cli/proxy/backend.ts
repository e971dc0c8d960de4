/** The credentials and name that a proxy uses: an agent's token, or the signed-in person. */
import { join } from 'node:path'
import { ApiError } from '../../client/http/api.ts'
import type { OpenWorkspace } from '../../client/workspace.ts'
import { parseToken } from '../../core/crypto/token.ts'
import { issueRunToken, type RunToken } from '../../proxy/agent_token.ts'
import type { Backend, ProxyNotice } from '../../proxy/backend.ts'
import { openLocalBackend } from '../../proxy/local/open.ts'
import { VaultCache } from '../../proxy/local/vault_snapshot.ts'
import { openUpload } from '../../proxy/outbox/upload.ts'
import { createRemoteBackend } from '../../proxy/remote.ts'
import { openProxyBodies, readProxySettings } from '../../proxy/settings.ts'
import type { Context } from '../context.ts'
import { type ProjectScope, projectScope, type WorkspaceScope } from '../scope.ts'
import type { Session } from '../session/session.ts'
import { CliError } from '../terminal/cli_error.ts'
import {
  type Agent,
  agentsOf,
  demandHome,
  isUsableIn,
  requireKnownAgent,
} from '../tokens/agents.ts'
import { environmentFor, readNamedProject } from '../tokens/given_token.ts'

type Order = {
  way: 'remote' | 'local'
  /** The name that `--agent` gave. */
  agent: string | null
  token: string | null
  stateDirectory: string
  ownPorts: () => readonly number[]
  notice: ProxyNotice
}

/** @throws CliError, ApiError */
export async function openBackend(context: Context, order: Order): Promise<Backend> {
  if (order.way === 'local') return openLocal(context, order)
  if (order.token === null) return openAsAgent(context, order)
  if (order.agent !== null) {
    throw new CliError(
      'usage',
      '--agent and a token exclude each other: a token already names its agent',
      'omit one of them',
    )
  }
  if (parseToken(order.token)?.kind !== 'agt') {
    throw new CliError('invalid_token', 'this is not an agent token', 'agent tokens: svc_agt_…')
  }
  return createRemoteBackend({
    resolver: await context.resolver(),
    token: order.token,
    projectId: readNamedProject(context).project_id ?? null,
    environment: (await environmentFor(context, order.token, 'resolver')).environment ?? null,
    notice: order.notice,
    bodies: openProxyBodies(readProxySettings(context.env)),
    close: async () => {},
  })
}

/** The remote way without a token at hand: one is made for this run, for this project and environment. */
async function openAsAgent(context: Context, { agent, notice }: Order): Promise<Backend> {
  if (agent === null) {
    throw new CliError(
      'token_required',
      '--remote needs the token of an agent',
      'set SERVICE_TOKEN, or pass --agent to create a token for this run',
    )
  }
  const { session, workspace, project, environment } = await projectScope(context)
  const grants = [{ projectId: project.id, environment }]
  const named = await agentOf({ session, workspace }, project.id, agent)
  const token = await issue(session, workspace.open, named, grants)
  const vault = new VaultCache(placeOf(session, workspace.id, project.id, environment))
  return createRemoteBackend({
    resolver: await context.resolver(),
    token: token.text,
    projectId: project.id,
    environment,
    notice,
    bodies: openProxyBodies(readProxySettings(context.env)),
    // Uses the member's session for stand-ins and settings, because the run's token cannot read.
    credentials: async () => (await vault.current()).credentials(),
    close: () => token.revoke().catch(() => {}),
  })
}

async function openLocal(context: Context, order: Order): Promise<Backend> {
  const scope = await projectScope(context)
  const { session, workspace, project, environment } = scope
  const tokens = openTokens(session)
  const agent = order.agent === null ? null : await agentOf(scope, project.id, order.agent)
  // Before anything is done in its name.
  if (agent !== null) await tokens.of(workspace.id, agent.id)
  const backend = openLocalBackend({
    place: { ...placeOf(session, workspace.id, project.id, environment), agent },
    owner: ownerOf(scope, agent?.id ?? null),
    upload: openUpload({
      server: session.server,
      api: session.api,
      access: () => session.stored.access,
      tokenFor: async (workspaceId, agent, isAnew) => {
        if (isAnew) tokens.forget(workspaceId, agent)
        return (await tokens.of(workspaceId, agent)).sealed
      },
    }),
    directory: join(order.stateDirectory, 'audit'),
    env: context.env,
    ownPorts: order.ownPorts,
    notice: order.notice,
  })
  return {
    ...backend,
    close: async () => {
      await backend.close()
      await tokens.revokeAll()
    },
  }
}

function placeOf(session: Session, workspaceId: string, projectId: string, environment: string) {
  const workspace = () => reopenWorkspace(session, workspaceId)
  return { api: session.api, workspace, projectId, environment }
}

/** One that works in the project. @throws CliError for a name that is not there: none is made */
async function agentOf(scope: WorkspaceScope, projectId: string, named: string) {
  try {
    const usable = (await agentsOf(scope)).filter((agent) => isUsableIn(agent, projectId))
    const agent = requireKnownAgent(scope, usable, named, 'for this project')
    demandHome(scope, agent)
    return agent
  } catch (error) {
    throw explainNotPermitted(error)
  }
}

function ownerOf({ session, workspace }: ProjectScope, agent: string | null) {
  return { server: session.server, email: session.email, workspace_id: workspace.id, agent }
}

/** Membership and key as they are now. @throws ApiError without them, UntrustedKey for another key */
async function reopenWorkspace(session: Session, workspaceId: string): Promise<OpenWorkspace> {
  const found = (await session.workspaces()).find(({ id }) => id === workspaceId)
  if (found?.status === 'active' && found.open) return found.open
  if (found?.fault) throw found.fault
  throw new ApiError(404, { error_code: 'not_found' })
}

/** One token for each agent that reports records in this run. */
function openTokens(session: Session) {
  const tokens = new Map<string, Promise<RunToken>>()
  const make = async (workspaceId: string, agent: string) =>
    issue(
      session,
      await reopenWorkspace(session, workspaceId),
      await agentKnownAs(session, workspaceId, agent),
      [],
    )
  const nameOf = (workspaceId: string, agent: string) => `${workspaceId} ${agent}`
  return {
    forget: (workspaceId: string, agent: string) => tokens.delete(nameOf(workspaceId, agent)),
    of: (workspaceId: string, agent: string): Promise<RunToken> => {
      const name = nameOf(workspaceId, agent)
      const token = tokens.get(name) ?? make(workspaceId, agent)
      tokens.set(name, token)
      // A failure is not kept: the next attempt asks again.
      token.catch(() => tokens.delete(name))
      return token
    },
    revokeAll: async () => {
      for (const token of tokens.values())
        await (await token.catch(() => null))?.revoke().catch(() => {})
    },
  }
}

/** Records that wait may be of an agent that is gone, or know it by its name only. @throws ApiError */
async function agentKnownAs(session: Session, workspaceId: string, agent: string): Promise<Agent> {
  const scope = { session, workspace: { id: workspaceId } }
  const agents = await agentsOf(scope)
  const found = agents.find(({ id }) => id === agent) ?? agents.find(({ name }) => name === agent)
  if (found) {
    demandHome(scope, found)
    return requireKnownAgent(scope, [found], agent, 'of this workspace')
  }
  // A permanent failure: the record is set aside, and the others continue.
  throw new ApiError(409, { error_code: 'conflict' })
}

async function issue(
  { api }: Session,
  workspace: OpenWorkspace,
  agent: Agent,
  grants: readonly { projectId: string; environment: string }[],
): Promise<RunToken> {
  try {
    return await issueRunToken({ api, workspace, agent, grants })
  } catch (error) {
    throw explainNotPermitted(error)
  }
}

function explainNotPermitted(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'forbidden') return error
  return new CliError(
    'not_permitted',
    'your role cannot create agent tokens',
    'ask an admin for one (SERVICE_TOKEN), or omit --agent to record calls under your name',
  )
}
