import { command } from '../../command.ts'
import { copyingOptions } from '../../options.ts'
import { projectScope } from '../../scope.ts'
import { copyTo } from '../../values/copying.ts'

/** `env copy`: all, or --only some. */
export default command({
  usage: 'copy <from> <to>',
  examples: [
    'env copy staging production --dry-run',
    'env copy staging production --only STRIPE_KEY,MODE --force',
    'env copy production production --to-project billing',
  ],
  options: [['--only <secret...>', 'copy only these: A,B'], ...copyingOptions],
  action: async (context, [from, to], options) => {
    const scope = { ...(await projectScope(context)), environment: from }
    const only = options.only?.flatMap((names) => names.split(',')).filter(Boolean)
    return copyTo(context, scope, only, { ...options, to })
  },
})
