/** Project, secret, host and agent: each one form, and the next step when it is done. */
import { type ReactNode, useState } from 'react'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { hostFor } from './first_call.ts'
import { keepMade } from './made.ts'

const words = texts.firstSteps.steps

export type StepProps = { workspaceId: string; progress: Returned<'first_steps.progress'> }

type StepFormProps = {
  verb: string
  submit(): void
  isPending: boolean
  error: unknown
  children: ReactNode
}

function StepForm({ verb, submit, isPending, error, children }: StepFormProps) {
  return (
    <FieldForm className="stack form" onSubmit={submit}>
      {children}
      <div>
        <Button kind="primary" type="submit" isPending={isPending}>
          {verb}
        </Button>
      </div>
      {error ? <FailureNote error={error} /> : null}
    </FieldForm>
  )
}

export function ProjectStep({ workspaceId }: StepProps) {
  const [name, setName] = useState('')
  const { mutate, isPending, error } = useCommand('projects.create', {
    changes: ['first_steps.progress', 'workspaces.projects'],
  })
  const state = { verb: words.project.verb, isPending, error }
  return (
    <StepForm {...state} submit={() => mutate({ workspaceId, name })}>
      <TextField
        label={words.project.name}
        help={words.project.help}
        isRequired
        autoFocus
        value={name}
        onChange={setName}
      />
    </StepForm>
  )
}

export function SecretStep({ workspaceId, progress: { project, environment } }: StepProps) {
  const [key, setKey] = useState('')
  const [value, setValue] = useState('')
  const { mutate, isPending, error } = useCommand('secrets.save', {
    changes: ['first_steps.progress', 'secrets.matrix'],
  })
  const place = { workspaceId, projectId: project?.id ?? '', environment }
  const typed = { key, value, expectedVersion: 0, isSetting: false }
  const state = { verb: words.secret.verb, isPending, error }
  return (
    <StepForm {...state} submit={() => mutate({ ...place, ...typed })}>
      <TextField
        label={words.secret.name}
        help={words.secret.help}
        isRequired
        autoFocus
        mono
        value={key}
        onChange={setKey}
      />
      <TextField
        label={words.secret.value}
        help={words.secret.valueHelp}
        type="password"
        autoComplete="off"
        isRequired
        value={value}
        onChange={setValue}
      />
    </StepForm>
  )
}

export function HostStep({ workspaceId, progress: { secret } }: StepProps) {
  const [domain, setDomain] = useState(hostFor(secret ?? ''))
  const { mutate, isPending, error } = useCommand('allowlist.add', {
    changes: ['first_steps.progress', 'allowlist.list'],
  })
  const state = { verb: words.host.verb, isPending, error }
  return (
    <StepForm {...state} submit={() => mutate({ workspaceId, domain })}>
      <TextField
        label={words.host.name}
        help={words.host.help}
        isRequired
        autoFocus
        mono
        value={domain}
        onChange={setDomain}
      />
    </StepForm>
  )
}

export function AgentStep({ workspaceId, progress: { project, environment } }: StepProps) {
  const [name, setName] = useState('')
  const { mutate, isPending, error } = useCommand('agents.issue', {
    changes: ['first_steps.progress', 'agents.list'],
  })
  const holder = { kind: 'agent', name, projectId: project?.id ?? null, environment } as const
  const submit = () =>
    mutate(
      { workspaceId, holder, capabilities: ['use'], days: 90 },
      { onSuccess: ({ id }) => keepMade(workspaceId, id) },
    )
  return (
    <StepForm verb={words.agent.verb} isPending={isPending} error={error} submit={submit}>
      <TextField
        label={words.agent.name}
        help={words.agent.help}
        isRequired
        autoFocus
        value={name}
        onChange={setName}
      />
    </StepForm>
  )
}
