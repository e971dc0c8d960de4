import { readSecrets } from '../../../client/environment.ts'
import { policyInWords } from '../../../client/secrets/policy_in_words.ts'
import { isSensitive } from '../../../core/policy/policy.ts'
import { command } from '../../command.ts'
import { token } from '../../options.ts'
import { environmentOf, projectScope } from '../../scope.ts'
import { suggestEnvironments } from '../../suggestions.ts'
import { namesOfToken, tokenInstead } from '../../tokens/token_work.ts'

export default command({
  usage: 'list',
  examples: ['secrets list', 'secrets list --json'],
  options: [token],
  action: async (context, _, options) => {
    const token = tokenInstead(context, options)
    if (token !== undefined) {
      const rows = await namesOfToken(context, token)
      context.output.table(rows, [{ field: 'key', whole: true }, 'environment', 'description'])
      return
    }
    const scope = await projectScope(context, {})
    const { session, environment } = scope
    const secrets = await readSecrets(environmentOf(scope))
    const own = session.own.of(scope)
    const rows = secrets.map(({ key, version, updated_at, policy }) => ({
      key,
      version,
      kind: `${isSensitive(policy) ? 'secret' : 'setting'}${own.has(key) ? ', with your own value' : ''}`,
      policy: policyInWords(policy),
      updated_at,
    }))
    const stored = secrets.map((secret) =>
      own.has(secret.key) ? { ...secret, mine: true } : secret,
    )
    const names = new Set(secrets.map(({ key }) => key))
    const added = [...own.keys()].filter((key) => !names.has(key))
    context.output.table(
      [...rows, ...added.map((key) => ({ key, kind: 'only your own value' }))],
      [{ field: 'key', whole: true }, 'kind', 'version', 'policy', 'updated_at'],
      [...stored, ...added.map((key) => ({ key, environment, mine: true }))],
    )
    const elsewhere = rows.length === 0 ? await suggestEnvironments(scope) : null
    if (elsewhere !== null) context.output.warn(elsewhere)
  },
})
