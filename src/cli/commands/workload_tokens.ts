/** Tokens of containers and CI jobs: one project, one environment each. */

import { grantEnvironment, makeToken } from '../../client/vault.ts'
import {
  issueWorkloadToken,
  listWorkloadTokens,
  provisionWorkloadToken,
  revokeWorkloadToken,
} from '../../features/agents/contract.ts'
import { parseToken, sealedToken } from '../../platform/crypto/token.ts'
import { EX_NOT_FOUND } from '../../platform/exit_codes.ts'
import type { workloadTokenOptions } from '../catalogue/options.ts'
import type { Action } from '../command.ts'
import { orderOf, showToken } from '../issued_token.ts'
import { projectScope } from '../scope.ts'
import { CliError } from '../terminal/cli_error.ts'

export const issue: Action<typeof workloadTokenOptions> = async (
  context,
  [label = ''],
  options,
) => {
  const { session, workspace, project, environment } = await projectScope(context)
  const made = await makeToken(workspace.open, 'wkl', [{ projectId: project.id, environment }])
  const { capabilities } = await session.api.call(issueWorkloadToken, {
    params: { project_id: project.id },
    body: { ...orderOf(options), label, environment, token: made.order },
  })
  showToken(context, options.sealed ? sealedForm(made.text) : made.text, {
    label,
    id: made.id,
    may: capabilities,
    grants: [`${project.name}/${environment}`],
  })
  return undefined
}

/** Authenticates, and decrypts nothing: for sealed delivery where values are opened elsewhere. */
function sealedForm(text: string): string {
  const token = parseToken(text)
  return token ? sealedToken(token.id, token.secret) : text
}

export const list: Action = async (context) => {
  const { session, project } = await projectScope(context)
  const tokens = await session.api.list(listWorkloadTokens, { params: { project_id: project.id } })
  context.output.table(
    tokens.map((token) => ({ ...token, may: token.capabilities })),
    ['label', 'environment', 'status', 'may', 'expires_at', 'last_used_at', 'id'],
    tokens,
  )
  return undefined
}

export const revoke: Action = async (context, [token_id = '']) => {
  const { session, project } = await projectScope(context)
  await session.api.call(revokeWorkloadToken, { params: { project_id: project.id, token_id } })
  context.output.say('Revoked; it is refused from now on.')
  return undefined
}

export const grant: Action = async (context, [token_id = '']) => {
  const { session, workspace, project } = await projectScope(context)
  const tokens = await session.api.list(listWorkloadTokens, { params: { project_id: project.id } })
  const token = tokens.find(({ id }) => id === token_id)
  if (!token)
    throw new CliError(
      EX_NOT_FOUND,
      'there is no such token',
      'list them with: cloakroom workload-token list',
    )
  const holder = { id: token.id, publicKey: token.public_key }
  const environment = token.environment ?? ''
  const envelope = await grantEnvironment(workspace.open, holder, project.id, environment)
  await session.api.call(provisionWorkloadToken, {
    params: { project_id: project.id, token_id },
    body: [envelope],
  })
  context.output.say(`It may use ${project.name}/${environment}.`)
  return undefined
}
