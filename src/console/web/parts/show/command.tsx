/** A command for a terminal, which can be copied. It names the workspace if the user has several. */
import { useTerminalCommand } from '../../terminal.ts'
import { texts } from '../../texts/index.ts'
import { CopyButton } from './copy.tsx'

export function Command({ text }: { text: string }) {
  const complete = useTerminalCommand()
  return <CopyButton text={complete(text)} name={texts.common.theCommand} />
}
