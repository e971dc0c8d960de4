/** Commands that the page shows for a terminal. A user with several workspaces needs the option that names this one. */
import { shellWord } from '../../client/agents/shell_word.ts'
import { createShared } from './shared.ts'

/** Commands about the account or the server, and those that already name a workspace. */
const WITHOUT_WORKSPACE = /^cloakroom (account|backup|recover|whoami)\b| -w /

const option = createShared('')

/** @param name the workspace to name in commands, or null if none is needed */
export function setTerminalWorkspace(name: string | null): void {
  option.set(name === null ? '' : ` -w ${shellWord(name)}`)
}

/** Completes a command of one line. */
export function useTerminalCommand(): (command: string) => string {
  const suffix = option.useValue()
  return (command) => (WITHOUT_WORKSPACE.test(command) ? command : command + suffix)
}
