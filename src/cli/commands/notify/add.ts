import {
  createNoticeTarget,
  noticeEvent,
  noticeTargetType,
} from '../../../features/notices/contract.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { workspaceScope } from '../../scope.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { askSecret, readPasswordFromStdin } from '../../terminal/prompts.ts'

export default command({
  usage: 'add <type> [url]',
  examples: ['notify add slack', 'notify add webhook - --events approval.requested,call.refused'],
  options: [['--events <events>', 'events, separated by commas (default: all)']],
  action: async (context, [typed, given], options) => {
    const type = oneOf(noticeTargetType.options, typed, 'type')
    const events = options.events
      ?.split(',')
      .map((name) => oneOf(noticeEvent.options, name.trim(), 'event'))
    const { session, workspace } = await workspaceScope(context)
    const target = await session.api.call(createNoticeTarget, {
      params: { workspace_id: workspace.id },
      body: { type, url: await readUrl(context, given), events: events ?? noticeEvent.options },
    })
    const { id, host, signing_key: key } = target
    context.output.done(`Added ${type} ${host} (${id}).`, target, id)
    if (key !== null) printKey(context, key)
    context.output.say(`Test it: cloakroom notify test ${id}`)
  },
})

function printKey({ output }: Context, key: string): void {
  output.say(
    `Signing key, shown once: ${key}`,
    'Verify: X-Cloakroom-Signature is t=TIME,v1=hex HMAC-SHA256(key, TIME + "." + body).',
    'Code for Node and Python is in docs/guides/notices.md.',
  )
}

/** Arguments are visible to other programs of the machine. @throws CliError without a terminal or `-` */
async function readUrl({ host }: Context, given: string | undefined): Promise<string> {
  if (given === '-') return readPasswordFromStdin(host)
  if (given !== undefined) return given
  return askSecret(host, 'URL', { hint: 'pass - as the URL and write it to standard input' })
}

function oneOf<const Name extends string>(
  names: readonly Name[],
  typed: string,
  what: string,
): Name {
  const name = names.find((each) => each === typed)
  if (name !== undefined) return name
  throw new CliError('usage', `${typed} is not a notice ${what}.`, `use one of ${names.join(', ')}`)
}
