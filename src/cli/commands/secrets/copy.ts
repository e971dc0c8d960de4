import { command } from '../../command.ts'
import { copyingOptions } from '../../options.ts'
import { projectScope } from '../../scope.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { copyTo } from '../../values/copying.ts'

/** `secrets copy`: some, by name. */
export default command({
  usage: 'copy <keys...>',
  examples: [
    'secrets copy STRIPE_KEY MODE --from staging --to production --dry-run',
    'secrets copy SMTP_PASSWORD --to-project billing',
  ],
  options: [
    ['--from <environment>', 'source environment (default: the selected one)'],
    ['--to <environment>', 'target environment (default with --to-project: the same name)'],
    ...copyingOptions,
  ],
  action: async (context, keys, options) => {
    const scope = await projectScope(context)
    const from = { ...scope, environment: options.from ?? scope.environment }
    if (options.to === undefined && options.toProject === undefined) {
      const hint = `example: cloakroom secrets copy ${keys[0]} --to production`
      throw new CliError('usage', 'give a target with --to or --to-project', hint)
    }
    return copyTo(context, from, keys, { ...options, to: options.to ?? from.environment })
  },
})
