/** `cloakroom completion`: scripts that make shells ask `cloakroom __complete`. */

import { command } from '../../command.ts'
import { scripts } from '../../completion/scripts.ts'
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
