/** A new project, or a new environment of one. */
import { useState } from 'react'
import { failureIn } from '../../../availability.ts'
import { Button } from '../../../parts/button.tsx'
import { TextField } from '../../../parts/fields/text_field.tsx'
import { FieldForm } from '../../../parts/form.tsx'
import { SHEET_FORM, SheetFooter } from '../../../parts/overlays/sheet.tsx'
import { say } from '../../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { useCommand } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import { type Project, useGo } from '../place.ts'
import { Pane } from './pane.tsx'

const words = texts.secretSheets

export function NewProject({ workspaceId }: { workspaceId: string }) {
  const go = useGo()
  const create = useCommand('projects.create', { changes: ['workspaces.projects'] })
  const make = (name: string) =>
    create.mutate(
      { workspaceId, name },
      {
        onSuccess: ({ id }) => {
          say(words.created(name))
          go({ project: id, pane: undefined, key: undefined })
        },
      },
    )
  const { error, isPending, reset } = create
  return (
    <Pane title={words.newProject}>
      <NameForm
        label={words.projectName}
        rule={words.projectRule}
        verb={words.createProject}
        {...{ make, error, isPending, reset }}
      />
    </Pane>
  )
}

export function NewEnvironment({ place: { projectId } }: { place: Project }) {
  const go = useGo()
  const add = useCommand('projects.addEnvironment', { changes: ['secrets.matrix'] })
  const make = (name: string) =>
    add.mutate(
      { projectId, name },
      {
        onSuccess: () => {
          say(words.created(name))
          go({ pane: undefined })
        },
      },
    )
  const { error, isPending, reset } = add
  return (
    <Pane title={words.newEnvironment}>
      <NameForm
        label={words.environmentName}
        rule={words.environmentRule}
        verb={words.createEnvironment}
        {...{ make, error, isPending, reset }}
      />
    </Pane>
  )
}

type FormProps = {
  label: string
  rule: string
  verb: string
  make(name: string): void
  error: unknown
  isPending: boolean
  /** Removes the error. */
  reset(): void
}

function NameForm({ label, rule, verb, make, error, isPending, reset }: FormProps) {
  const [name, setName] = useState('')
  const fault = failureIn(error)?.code === 'validation_error' ? words.notAllowed : undefined
  return (
    <FieldForm className={SHEET_FORM} onSubmit={() => make(name)}>
      <TextField
        label={label}
        help={rule}
        error={fault}
        isRequired
        mono
        autoFocus
        autoComplete="off"
        value={name}
        onChange={(typed) => {
          reset()
          setName(typed)
        }}
      />
      {error && fault === undefined ? <FailureNote error={error} /> : null}
      <SheetFooter>
        <Button type="submit" kind="primary" isPending={isPending}>
          {verb}
        </Button>
      </SheetFooter>
    </FieldForm>
  )
}
