/** Deleting a project, or one of its environments: what is lost is named before. */
import { useState } from 'react'
import type { Returned } from '../../keys/messages.ts'
import { Select } from '../../parts/fields/select.tsx'
import { ConfirmDialog } from '../../parts/overlays/confirm.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { CHANGED, type Project, secretsRoute, useGo, useMayHere } from './place.ts'

const words = texts.removing

const ENDED = ['agents.list', 'agents.tokens', 'history.read', 'projects.losses'] as const

type Props = { place: Project; name: string }

/** As the address asks for it, of who may. */
export function Removing(props: Props) {
  const { pane } = secretsRoute.useSearch()
  const may = useMayHere('project.delete')
  if (!may) return null
  if (pane === 'delete-project') return <RemoveProject {...props} />
  return pane === 'delete-environment' ? <RemoveEnvironment {...props} /> : null
}

function RemoveProject({ place, name }: Props) {
  const go = useGo()
  const { data, error } = useAsk('projects.losses', place, 0)
  const remove = useCommand('projects.remove', { changes: ['workspaces.projects', ...ENDED] })
  const act = async () => {
    report(name, await remove.mutateAsync(place), words.restoreProject(name))
    go({ project: undefined, environment: undefined, pane: undefined, key: undefined })
  }
  return (
    <ConfirmDialog
      verb={words.verb}
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
      <p>{words.restoreProject(name)}</p>
    </ConfirmDialog>
  )
}

function RemoveEnvironment({ place, name }: Props) {
  const go = useGo()
  const { environment } = secretsRoute.useSearch()
  const [chosen, choose] = useState(environment)
  const { data, error } = useAsk('projects.losses', place, 0)
  const remove = useCommand('projects.removeEnvironment', { changes: [...CHANGED, ...ENDED] })
  const there = data?.environments ?? []
  const lost = there.find((each) => each.name === chosen) ?? there[0]
  const act = async () => {
    if (!lost) throw error
    const done = await remove.mutateAsync({ ...place, environment: lost.name })
    report(lost.name, done, words.restoreEnvironment(lost.name))
    go({ environment: undefined, pane: undefined, key: undefined })
  }
  return (
    <ConfirmDialog
      verb={words.verb}
      title={words.environmentOf(name)}
      isOpen
      onClose={() => go({ pane: undefined })}
      onConfirm={act}
    >
      {error ? <FailureNote error={error} /> : data ? null : <Loading />}
      {lost ? (
        <>
          <Select
            label={texts.secrets.environment}
            options={there.map((each) => ({ id: each.name, label: each.name }))}
            value={lost.name}
            onChange={choose}
          />
          <p>{words.ofEnvironment(lost)}</p>
          <Ends
            agents={[]}
            tokens={(data?.tokens ?? []).filter((token) => token.environment === lost.name)}
          />
          <p>{words.restoreEnvironment(lost.name)}</p>
        </>
      ) : null}
    </ConfirmDialog>
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

function report(name: string, done: Returned<'projects.remove'>, restore: string) {
  if (done.wasGone) say(words.wasGone(name))
  else say(`${words.done(name)} ${done.isUnsigned ? texts.agents.unsigned : restore}`)
}
