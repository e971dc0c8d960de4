import {
  allowProposed,
  closeProposed,
  type ListedProposal,
  listMissingHosts,
  listMissingSecrets,
  storeProposed,
} from '../../../client/actions/proposals.ts'
import { nowOf } from '../../approvals/deciding.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { yes } from '../../options.ts'
import { proposalLines, proposalNamed } from '../../proposals/proposal.ts'
import { environmentOf, placeOf, projectScope, workspaceScope } from '../../scope.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { requireConfirmation } from '../../terminal/confirmed.ts'

/** Makes the ordinary changes, signed by this person, and closes the proposal after them. */
export default command({
  usage: 'accept <proposal>',
  examples: [
    'proposals accept 9f6b7d10',
    'proposals accept 9f6b7d10 -p billing -e production --values-stdin < values.txt',
  ],
  options: [['--values-stdin', 'read the missing values from standard input, one per line'], yes],
  action: async (context, [typed], options) => {
    const scope = await workspaceScope(context)
    const place = placeOf(scope)
    const proposal = await proposalNamed(place, typed, true)
    const target = proposal.secrets.length > 0 ? environmentOf(await projectScope(context)) : null
    const hosts = await listMissingHosts(place, proposal)
    const missing = target ? await listMissingSecrets(target, proposal) : []
    const names = missing.map(({ key }) => key)
    const where = target ? ` in ${target.environment}` : ''
    context.output.warn(
      ...proposalLines(proposal, nowOf(context)),
      `Changes: ${changesOf(hosts, names, where)}`,
      ...(names.length > 0 && proposal.hosts.length === 0
        ? ['The proposal has no hosts, so calls can send these secrets to every allowed host.']
        : []),
    )
    await requireConfirmation(context.host, options, 'Make these changes?')
    const values = await valuesOf(context, names, options.valuesStdin === true)
    await allowProposed(place, hosts)
    if (target) await storeProposed(target, proposal, values)
    await closeProposed(place, proposal.id, 'accepted')
    const data = { accepted: proposal.id, allowed: hosts, stored: names }
    context.output.done(`Accepted: ${changesOf(hosts, names, where)}`, data, proposal.id)
  },
})

function changesOf(hosts: readonly string[], names: readonly string[], where: string): string {
  const parts = [
    ...(hosts.length > 0 ? [`allow ${hosts.join(', ')}`] : []),
    ...(names.length > 0 ? [`store ${names.join(', ')}${where}`] : []),
  ]
  return parts.length > 0 ? parts.join('; ') : 'none, because everything exists'
}

/** @throws CliError without a terminal, or for an empty value */
async function valuesOf(
  { host }: Context,
  names: readonly ListedProposal['secrets'][number]['key'][],
  isPiped: boolean,
): Promise<Map<string, string>> {
  if (names.length === 0) return new Map()
  const { askSecret, readLinesFromStdin } = await import('../../terminal/prompts.ts')
  const lines = isPiped ? await readLinesFromStdin(host) : []
  const values = new Map<string, string>()
  for (const [at, name] of names.entries()) {
    const hint = 'pass the values with --values-stdin'
    const value = isPiped ? (lines[at] ?? '') : await askSecret(host, `Value of ${name}`, { hint })
    if (value === '') throw new CliError('empty_value', `the value of ${name} is empty`, hint)
    values.set(name, value)
  }
  return values
}
