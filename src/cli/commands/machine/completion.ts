/** `cloakroom completion`: scripts that make shells ask `cloakroom __complete`. */

import { command } from '../../command.ts'
import { shells } from '../../completion/sources.ts'
import { CliError } from '../../terminal/cli_error.ts'

export default command({
  usage: 'completion <shell>',
  examples: [
    'completion bash > ~/.local/share/bash-completion/completions/cloakroom',
    'completion zsh > "${fpath[1]}/_cloakroom"',
    'completion fish > ~/.config/fish/completions/cloakroom.fish',
  ],
  action: async (context, [named]) => {
    const shell = shells.find((candidate) => candidate === named)
    if (!shell) throw new CliError('usage', `the shell must be one of ${shells.join(', ')}`)
    context.output.raw(scripts[shell])
  },
})

/**
 * The completion script of each shell. Names come from other people: each shell quotes what it puts on the line, so
 * that none of it is run.
 */
import bash from '../../completion/cloakroom.bash' with { type: 'text' }
import fish from '../../completion/cloakroom.fish' with { type: 'text' }
import zsh from '../../completion/cloakroom.zsh' with { type: 'text' }

/** Names come from other people: each shell quotes what it puts on the line, so that none of it is run. */
const scripts = { bash, zsh, fish }
