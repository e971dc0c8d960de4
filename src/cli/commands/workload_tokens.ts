/** Tokens of containers and CI jobs: one project, one environment each. */

import { endToken, listTokensOf } from '../../client/actions/end_tokens.ts'
import { giveKeys } from '../../client/actions/grant.ts'
import { issueToWorkload } from '../../client/actions/issue_token.ts'
import { ApiError } from '../../client/http/api.ts'
import { parseToken, sealedToken } from '../../core/crypto/token.ts'
import type { confirmOptions, workloadTokenOptions } from '../catalogue/options.ts'
import type { Action } from '../command.ts'
import { type ProjectScope, placeOf, projectScope } from '../scope.ts'
import { tokenScope } from '../suggestions.ts'
import { CliError } from '../terminal/cli_error.ts'
import { confirmedOnTerminal } from '../terminal/confirmed.ts'
import { grantedToken, revocableToken, revokedText, tokenColumns } from '../tokens/agents.ts'
import { orderOf, showToken } from '../tokens/issued_token.ts'
import { endingIn } from '../tokens/revoking.ts'

export const issue: Action<typeof workloadTokenOptions> = async (
  context,
  [label = ''],
  options,
) => {
  const scope = await tokenScope(context)
  const { project, environment } = scope
  const place = { projectId: project.id, environment }
  const order = { ...orderOf(options), label }
  const issuing = issueToWorkload(placeOf(scope), place, order)
  const { capabilities, id, text } = await issuing.catch((error) => {
    throw error instanceof ApiError && error.code === 'already_exists' ? taken(scope, label) : error
  })
  showToken(context, options.sealed ? sealedForm(text) : text, {
    label,
    id,
    may: capabilities,
    grants: [`${project.name}/${environment}`],
  })
  return undefined
}

function taken({ project }: ProjectScope, label: string): CliError {
  return new CliError(
    'name_taken',
    `a token labelled ${label} works in ${project.name}`,
    `choose another label, or first: cloakroom workload-token revoke ${label}`,
  )
}

/** Authenticates, and decrypts nothing: for sealed delivery where values are opened elsewhere. */
function sealedForm(text: string): string {
  const token = parseToken(text)
  return token ? sealedToken(token.id, token.secret) : text
}

export const list: Action = async (context) => {
  const tokens = await tokensOf(await projectScope(context))
  const rows = tokens.map((token) => ({ ...token, may: token.capabilities }))
  context.output.table(rows, tokenColumns(tokens, 'environment'), tokens)
  return undefined
}

export const revoke: Action<typeof confirmOptions> = async (context, [typed = ''], options) => {
  const scope = await projectScope(context)
  const owner = { projectId: scope.project.id }
  const all = await tokensOf(scope)
  const token = await revocableToken(scope, owner, all, typed, 'workload-token list')
  await confirmedOnTerminal(context.host, options, `Revoke ${typed}? You can't undo this.`)
  await endToken(endingIn(context, scope), owner, token.id)
  context.output.done(revokedText(token), { revoked: token.id })
  return undefined
}

export const grant: Action = async (context, [typed = '']) => {
  const scope = await projectScope(context)
  const { project } = scope
  const token = await tokenOf(scope, typed)
  const environment = token.environment ?? ''
  const owner = { projectId: project.id }
  await giveKeys(placeOf(scope), owner, token, [{ ...owner, environment }])
  context.output.done(`It may use ${project.name}/${environment}.`, {
    token_id: token.id,
    granted: `${project.name}/${environment}`,
  })
  return undefined
}

async function tokenOf(scope: ProjectScope, typed: string) {
  const owner = { projectId: scope.project.id }
  return grantedToken(scope, owner, await tokensOf(scope), typed, 'workload-token list')
}

function tokensOf(scope: ProjectScope) {
  return listTokensOf(placeOf(scope), { projectId: scope.project.id })
}
