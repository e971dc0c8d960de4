/** What secrets stand in: a project, and an environment of it. */
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { type Project, useGo } from './place.ts'

const words = texts.secrets

export function NewProject({ workspaceId }: { workspaceId: string }) {
  const go = useGo()
  const create = useCommand('projects.create', { changes: ['workspaces.projects'] })
  const make = (name: string) =>
    create.mutate(
      { workspaceId, name },
      {
        onSuccess: ({ id }) => {
          say(words.projectMade(name))
          go({ project: id, pane: undefined, key: undefined })
        },
      },
    )
  const { error, isPending } = create
  return (
    <NameForm label={words.projectName} verb={words.makeProject} {...{ make, error, isPending }} />
  )
}

export function NewEnvironment({ projectId }: Project) {
  const go = useGo()
  const add = useCommand('projects.addEnvironment', { changes: ['secrets.matrix'] })
  const make = (name: string) =>
    add.mutate(
      { projectId, name },
      {
        onSuccess: () => {
          say(words.projectMade(name))
          go({ pane: undefined })
        },
      },
    )
  const { error, isPending } = add
  return (
    <NameForm
      label={words.environmentName}
      verb={words.makeEnvironment}
      {...{ make, error, isPending }}
    />
  )
}

type FormProps = {
  label: string
  verb: string
  make(name: string): void
  error: unknown
  isPending: boolean
}

function NameForm({ label, verb, make, error, isPending }: FormProps) {
  const [name, setName] = useState('')
  const submit = () => {
    make(name)
  }
  return (
    <FieldForm className="stack" onSubmit={submit}>
      <TextField label={label} isRequired mono value={name} onChange={setName} />
      {error ? <FailureNote error={error} /> : null}
      <div>
        <Button type="submit" isPending={isPending}>
          {verb}
        </Button>
      </div>
    </FieldForm>
  )
}
