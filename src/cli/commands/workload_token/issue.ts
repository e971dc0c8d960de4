import { issueToWorkload } from '../../../client/actions/issue_token.ts'
import { ApiError } from '../../../client/http/api.ts'
import { formatSealedToken, parseToken } from '../../../core/crypto/token.ts'
import { command } from '../../command.ts'
import { tokenOptions } from '../../options.ts'
import { type ProjectScope, placeOf } from '../../scope.ts'
import { tokenScope } from '../../suggestions.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { orderOf, showToken } from '../../tokens/issued_token.ts'

const options = [
  ['--sealed', 'create a token that authenticates but cannot decrypt'],
  ...tokenOptions,
] as const

export default command({
  usage: 'issue <label>',
  examples: [
    'workload-token issue ci -e staging',
    'workload-token issue backup --sealed --expires-in-days never',
  ],
  options,
  action: async (context, [label], options) => {
    const scope = await tokenScope(context)
    const { project, environment } = scope
    const place = { projectId: project.id, environment }
    const order = { ...orderOf(options), label }
    const issuing = issueToWorkload(placeOf(scope), place, order)
    const { capabilities, id, text } = await issuing.catch((error) => {
      throw error instanceof ApiError && error.code === 'already_exists'
        ? buildTakenError(scope, label)
        : error
    })
    showToken(context, options.sealed ? requireSealedForm(text) : text, {
      label,
      id,
      may: capabilities,
      grants: [`${project.name}/${environment}`],
    })
  },
})

function buildTakenError({ project }: ProjectScope, label: string): CliError {
  return new CliError(
    'name_taken',
    `an active token with the label ${label} already exists in ${project.name}`,
    `choose another label, or first: cloakroom workload-token revoke ${label}`,
  )
}

/** Authenticates, and decrypts nothing: for sealed delivery where values are opened elsewhere. */
function requireSealedForm(text: string): string {
  const token = parseToken(text)
  return token ? formatSealedToken(token.id, token.secret) : text
}
