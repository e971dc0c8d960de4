/** Deletes a project, or one of its environments. What is lost is named first. */
import { useState } from 'react'
import type { Returned } from '../../../keys/messages.ts'
import { Select } from '../../../parts/fields/select.tsx'
import { ConfirmDialog } from '../../../parts/overlays/confirm.tsx'
import { say } from '../../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { Loading } from '../../../parts/page/loading.tsx'
import { Command } from '../../../parts/show/command.tsx'
import { useAsk, useCommand } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import { CHANGED, type Project, useGo, useParameter } from '../place.ts'

const words = texts.removing

const ENDED = ['agents.list', 'agents.tokens', 'history.read', 'projects.losses'] as const

type Props = { place: Project; name: string }

export function RemoveProject({ place, name }: Props) {
  const go = useGo()
  const { data, error } = useAsk('projects.losses', place, 0)
  const remove = useCommand('projects.remove', { changes: ['workspaces.projects', ...ENDED] })
  const act = async () => {
    report(name, await remove.mutateAsync(place))
    go({ project: undefined, environment: undefined, pane: undefined, key: undefined })
  }
  return (
    <ConfirmDialog
      verb={words.projectVerb}
      title={words.title(name)}
      typed={name}
      isOpen
      onClose={() => go({ pane: undefined })}
      onConfirm={act}
    >
      {error ? <FailureNote error={error} /> : data ? null : <Loading />}
      {data ? (
        <>
          <p>{words.ofProject(data.environments)}</p>
          <Ends agents={data.agents} tokens={data.tokens} />
        </>
      ) : null}
      <Restore text={words.restoreProject} command={`cloakroom project restore ${name}`} />
    </ConfirmDialog>
  )
}

export function RemoveEnvironment({ place, name }: Props) {
  const go = useGo()
  const environment = useParameter('environment')
  const [chosen, choose] = useState(environment)
  const { data, error } = useAsk('projects.losses', place, 0)
  const remove = useCommand('projects.removeEnvironment', { changes: [...CHANGED, ...ENDED] })
  const present = data?.environments ?? []
  const lost = present.find((each) => each.name === chosen) ?? present[0]
  const act = async () => {
    if (!lost) throw error
    report(lost.name, await remove.mutateAsync({ ...place, environment: lost.name }))
    go({ environment: undefined, pane: undefined, key: undefined })
  }
  return (
    <ConfirmDialog
      verb={words.environmentVerb}
      title={words.environmentOf(name)}
      isOpen
      onClose={() => go({ pane: undefined })}
      onConfirm={act}
    >
      {error ? <FailureNote error={error} /> : data ? null : <Loading />}
      {lost ? (
        <>
          <Select
            label={texts.secretSheets.environment}
            options={present.map((each) => ({ id: each.name, label: each.name }))}
            value={lost.name}
            onChange={choose}
          />
          <p>{words.ofEnvironment(lost)}</p>
          <Ends
            agents={[]}
            tokens={(data?.tokens ?? []).filter((token) => token.environment === lost.name)}
          />
          <Restore
            text={words.restoreEnvironment}
            command={`cloakroom secrets undelete -e ${lost.name}`}
          />
        </>
      ) : null}
    </ConfirmDialog>
  )
}

function Restore({ text, command }: { text: string; command: string }) {
  return (
    <p className="text-small text-ink-2">
      {text} <Command text={command} />
    </p>
  )
}

function Ends({ agents, tokens }: Pick<Returned<'projects.losses'>, 'agents' | 'tokens'>) {
  return (
    <>
      {agents.length > 0 ? <p>{words.agents(agents)}</p> : null}
      <p>{words.tokens(tokens.map(({ agent, label }) => words.token(label, agent)))}</p>
    </>
  )
}

function report(name: string, { wasGone, isUnsigned }: Returned<'projects.remove'>) {
  if (wasGone) say(words.wasGone(name))
  else say(isUnsigned ? `${words.done(name)} ${words.doneTokensLeft}` : words.done(name))
}
