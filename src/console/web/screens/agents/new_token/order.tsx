/** Orders a token: a name, one sentence of its terms, and limits. The sentence is true at any time. */
import { useState } from 'react'
import { Button } from '../../../parts/button.tsx'
import { Segmented } from '../../../parts/fields/segmented.tsx'
import { TextField } from '../../../parts/fields/text_field.tsx'
import { FieldForm } from '../../../parts/form.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { useAsk, useCommand } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import {
  ALL,
  type DraftProps,
  draftEnvironment,
  draftFor,
  isLimit,
  type MadeToken,
  mayOf,
  type ProjectChoice,
  type TokenDraft,
  type TokenHolder,
  tokenOrderOf,
} from './draft.ts'
import { LimitFields } from './limit_fields.tsx'
import { TokenSentence } from './sentence.tsx'

const words = texts.wizard

type Props = {
  workspaceId: string
  projects: readonly ProjectChoice[]
  holder: TokenHolder
  onMade(made: MadeToken): void
  onCancel(): void
}

export function TokenForm({ workspaceId, projects, holder, onMade, onCancel }: Props) {
  const [draft, setDraft] = useState(() => draftFor(holder, projects))
  const issue = useCommand('agents.issue', {
    changes: ['agents.list', 'agents.tokens', 'agents.all'],
  })
  const change = (changed: Partial<TokenDraft>) => setDraft((before) => ({ ...before, ...changed }))
  const first = draft.projectId === ALL ? (projects[0]?.id ?? '') : draft.projectId
  const { data: environments = [], error } = useAsk('agents.environments', { projectId: first })
  const environment = draftEnvironment(draft, environments)
  const project = projects.find(({ id }) => id === draft.projectId)
  const submit = () => {
    if (environment === '' || !Object.values(draft.limits).every(isLimit)) return
    issue.mutate(tokenOrderOf(workspaceId, holder, { ...draft, environment }), {
      onSuccess: ({ id }) => {
        const { kind, name } = draft
        const place = {
          project: project?.name ?? null,
          environment: environment === ALL ? null : environment,
        }
        onMade({ id, kind, name, may: mayOf(draft), ...place })
      },
    })
  }
  return (
    <FieldForm className="flex flex-1 flex-col gap-4" onSubmit={submit}>
      <Holder holder={holder} draft={draft} change={change} />
      <TokenSentence {...{ holder, draft, change, projects, environments, environment }} />
      <LimitFields draft={draft} change={change} />
      {error ? <FailureNote error={error} /> : null}
      {issue.error ? <FailureNote error={issue.error} /> : null}
      <div className="mt-auto flex justify-end gap-2 pt-2">
        <Button onPress={onCancel}>{texts.common.cancel}</Button>
        <Button kind="primary" type="submit" isPending={issue.isPending}>
          {words.make}
        </Button>
      </div>
    </FieldForm>
  )
}

function Holder({ holder, draft, change }: DraftProps & { holder: TokenHolder }) {
  if (holder.kind === 'agent') {
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
  /** A workload has one environment, and usually reads. */
  const onKind = (kind: TokenDraft['kind']) =>
    change({ kind, environment: null, may: kind === 'workload' ? 'use,read' : 'use' })
  const kinds = (['agent', 'workload'] as const).map((id) => ({ id, label: words.kinds[id] }))
  return (
    <>
      <Segmented label={words.kind} options={kinds} value={draft.kind} onChange={onKind} />
      <TextField
        label={words.name}
        isRequired
        autoFocus
        value={draft.name}
        onChange={(name) => change({ name })}
      />
    </>
  )
}
