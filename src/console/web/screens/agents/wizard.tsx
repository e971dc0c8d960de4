/** A new token: for whom, where, what it may do, and for how long, said in one sentence before it is made. */
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import {
  ALL,
  draftFor,
  type For,
  type MadeToken,
  mayOf,
  type ProjectChoice,
  type TokenDraft,
  tokenOrderOf,
} from './draft.ts'

const words = texts.wizard

type Props = {
  workspaceId: string
  projects: readonly ProjectChoice[]
  given: For
  onMade(made: MadeToken): void
  onCancel(): void
}

const optionsOf = <Id extends string>(labels: Readonly<Record<Id, string>>) =>
  (Object.keys(labels) as Id[]).map((id) => ({ id, label: labels[id] }))

export function Wizard({ workspaceId, projects, given, onMade, onCancel }: Props) {
  const [draft, setDraft] = useState(() => draftFor(given, projects))
  const issue = useCommand('agents.issue', { changes: ['agents.list', 'agents.tokens'] })
  const change = (changed: Partial<TokenDraft>) => setDraft((before) => ({ ...before, ...changed }))
  if (projects.length === 0) {
    return (
      <EmptyState title={texts.agents.noProject} command={texts.agents.noProjectCommand}>
        <div>
          <Button onPress={onCancel}>{texts.common.cancel}</Button>
        </div>
      </EmptyState>
    )
  }
  const project = projects.find(({ id }) => id === draft.projectId)
  const submit = () => {
    issue.mutate(tokenOrderOf(workspaceId, given, draft), {
      onSuccess: ({ id }) => {
        const { kind, name } = draft
        const environment = draft.environment === ALL ? null : draft.environment
        onMade({
          id,
          kind,
          name,
          may: mayOf(draft),
          project: project?.name ?? null,
          environment,
        })
      },
    })
  }
  return (
    <FieldForm className="stack form" onSubmit={submit}>
      <h2 className="card-title">
        {given.kind === 'agent' ? texts.agents.makeFor(given.agent.name) : texts.agents.make}
      </h2>
      <Holder given={given} draft={draft} change={change} />
      <Where given={given} draft={draft} change={change} projects={projects} />
      <Terms draft={draft} change={change} />
      <Summary draft={draft} project={project?.name ?? null} />
      <div className="row">
        <Button kind="primary" type="submit" isPending={issue.isPending}>
          {words.make}
        </Button>
        <Button onPress={onCancel}>{texts.common.cancel}</Button>
      </div>
      {issue.error ? <FailureNote error={issue.error} /> : null}
    </FieldForm>
  )
}

type PartProps = { draft: TokenDraft; change(changed: Partial<TokenDraft>): void }

function Holder({ given, draft, change }: PartProps & { given: For }) {
  if (given.kind === 'agent') {
    return (
      <TextField
        label={words.label}
        isRequired
        autoFocus
        value={draft.label}
        onChange={(label) => change({ label })}
      />
    )
  }
  const onKind = (kind: TokenDraft['kind']) => {
    // A workload has one place, and usually reads.
    const only =
      kind === 'workload'
        ? ({ may: 'use,read', environment: '' } as const)
        : ({ may: 'use' } as const)
    change({ kind, ...only })
  }
  return (
    <>
      <Select
        label={words.kind}
        options={optionsOf(words.kinds)}
        value={draft.kind}
        onChange={onKind}
      />
      <TextField
        label={words.name}
        help={words.nameHelp}
        isRequired
        autoFocus
        value={draft.name}
        onChange={(name) => change({ name })}
      />
    </>
  )
}

function Where({
  given,
  draft,
  change,
  projects,
}: PartProps & { given: For; projects: readonly ProjectChoice[] }) {
  const { kind, projectId, environment } = draft
  const first = projectId === ALL ? (projects[0]?.id ?? '') : projectId
  const { data: names = [], error } = useAsk('agents.environments', { projectId: first })
  const all = (label: string) => (kind === 'workload' ? [] : [{ id: ALL, label }])
  const chosen = projects.map(({ id, name }) => ({ id, label: name }))
  const places = names.map((name) => ({ id: name, label: name }))
  return (
    <>
      <Select
        label={words.project}
        options={[...chosen, ...all(words.everyProject)]}
        value={projectId}
        onChange={(id) => change({ projectId: id, environment: '' })}
        isDisabled={given.kind === 'agent'}
      />
      <Select
        label={words.environment}
        options={[...places, ...all(words.everyEnvironment)]}
        isRequired
        value={environment === '' ? null : environment}
        onChange={(id) => change({ environment: id })}
      />
      {error ? <FailureNote error={error} /> : null}
    </>
  )
}

function Terms({ draft, change }: PartProps) {
  return (
    <>
      <Select
        label={words.capabilities}
        options={optionsOf(words.may)}
        value={draft.may}
        onChange={(may) => change({ may })}
      />
      <Select
        label={words.days}
        options={optionsOf(words.lengths)}
        value={draft.days}
        onChange={(days) => change({ days })}
      />
    </>
  )
}

function Summary({ draft, project }: { draft: TokenDraft; project: string | null }) {
  const { name, environment, may, days } = draft
  if (environment === '') return null
  const place = texts.agents.inPlace(project, environment === ALL ? null : environment)
  return (
    <Banner kind={may === 'use' && days !== 'never' ? 'usual' : 'warning'}>
      <p>{words.summary(name, place, may.split(','))}</p>
      {may === 'use' ? null : <p>{words.readingWarning}</p>}
      {days === 'never' ? <p>{words.endlessWarning}</p> : null}
    </Banner>
  )
}
