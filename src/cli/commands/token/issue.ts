import { issueToAgent } from '../../../client/actions/issue_token.ts'
import { type Domain, domainMatches, parseDomain } from '../../../core/net/domain.ts'
import { listAllowlist } from '../../../features/allowlist/contract.ts'
import { command } from '../../command.ts'
import { buildNotFoundError, joinHints } from '../../named.ts'
import { limitOptions, narrowingOptions, save, tokenOptions } from '../../options.ts'
import { type ProjectScope, placeOf } from '../../scope.ts'
import { absence, tokenScope } from '../../suggestions.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { handOut } from '../../tokens/agent_tokens.ts'
import { agentNamed, demandUsable } from '../../tokens/agents.ts'
import { orderOf, readNarrowingOptions } from '../../tokens/issued_token.ts'
import { limitsBy } from '../../tokens/limits.ts'

export default command({
  usage: 'issue <agent>',
  examples: [
    'token issue deploy-bot -e staging',
    'token issue build-bot --may use,read',
    'token issue build-bot --calls-per-day 1000 --bytes-per-day 100MB',
  ],
  options: [
    save,
    ...narrowingOptions,
    ...limitOptions,
    ['--allow-unknown', 'accept hosts and secrets that do not exist'],
    ...tokenOptions,
  ],
  action: async (context, [name], options) => {
    const limits = limitsBy(options)
    const order = { ...orderOf(options), ...readNarrowingOptions(options), ...limits }
    const scope = await tokenScope(context)
    const { session, project, environment } = scope
    const agent = await agentNamed(context, scope, name)
    demandUsable(scope, agent, project)
    if (!options.allowUnknown) await demandKnown(scope, order)
    const issued = await issueToAgent(placeOf(scope), agent, {
      environment,
      order,
      places: [{ projectId: project.id, environment }],
    })
    const grants = [`${project.name}/${environment}`]
    const bound = agent.project_id === null ? 'all' : project.name
    const { id, capabilities: may } = issued
    const about = {
      agent: agent.name,
      project: bound,
      id,
      may,
      grants,
      ...readNarrowingOptions(options),
      ...limits,
    }
    await handOut(context, session, { agent, token: issued.text, about }, options)
  },
})

const OTHERWISE = 'add --allow-unknown to accept it'

/** @throws CliError for a name that the environment does not have, or a host of which the allowlist has no part */
async function demandKnown(
  scope: ProjectScope,
  { hosts = [], secrets = [] }: { hosts?: string[]; secrets?: string[] },
): Promise<void> {
  const absent = secrets.length > 0 ? await absence(scope, ...secrets) : null
  if (absent)
    throw new CliError('not_found', absent.message, joinHints(absent.hint ?? '', OTHERWISE))
  if (hosts.length > 0) await demandAllowed(scope, hosts)
}

async function demandAllowed(
  { session, workspace }: ProjectScope,
  hosts: readonly string[],
): Promise<void> {
  const rows = await session.api.list(listAllowlist, { params: { workspace_id: workspace.id } })
  const known = rows.map(({ domain }) => domain)
  const allowed = known.flatMap((text) => parseDomain(text) ?? [])
  const unknown = hosts.find((host) => !isAllowedHost(parseDomain(host), allowed))
  if (unknown === undefined) return
  throw buildNotFoundError(unknown, known, {
    what: 'allowed host',
    where: `in ${workspace.name}`,
    list: 'allowlist list',
    otherwise: OTHERWISE,
  })
}

/** Whether a host that the token is for can be reached: either entry may be a wildcard that covers the other. */
function isAllowedHost(host: Domain | null, allowed: readonly Domain[]): boolean {
  return allowed.some(
    (entry) =>
      host !== null && (entry.text === host.text || covers(entry, host) || covers(host, entry)),
  )
}

function covers(one: Domain, other: Domain): boolean {
  return !other.wildcard && domainMatches(one, other.host, other.port)
}
