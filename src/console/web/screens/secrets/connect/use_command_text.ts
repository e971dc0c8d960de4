/** The command that connects at a terminal, with names of workspace and project. */
import { useState } from 'react'
import { ask } from '../../../keys/ask.ts'
import type { Input } from '../../../keys/messages.ts'
import { useAsk } from '../../../queries.ts'
import type { SecretsPlace } from '../place.ts'

type Choice = Input<'connections.command'>['choice']

export function useCommandText({ workspaceId, environment }: SecretsPlace, project: string) {
  const { data } = useAsk('workspaces.list', null)
  const workspace = data?.find(({ id }) => id === workspaceId)?.name
  const [command, setCommand] = useState<string | null>(null)
  const show = async (key: string, choice: Choice) => {
    if (workspace === undefined) return
    const typed = { workspace, project, environment, key }
    const made = await ask('connections.command', { ...typed, choice })
    setCommand(made.command)
  }
  return { command, show, isReady: workspace !== undefined }
}
