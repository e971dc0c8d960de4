/** Accepting a proposal: the hosts that are missing are shown before they are signed, and missing secrets get a value. */
import { useState } from 'react'
import { useManages } from '../../frame/manages.ts'
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { useHold } from '../live/hold.ts'
import { DECIDED, type ProposedChange } from './waiting.ts'

const words = texts.waiting

const CHANGED = [...DECIDED, 'proposals.hosts', 'allowlist.list', 'secrets.matrix'] as const

type Props = { workspaceId: string; proposal: ProposedChange; onClose(): void }

export function Acceptance(props: Props) {
  useHold(true)
  const { workspaceId, proposal } = props
  const { data, error } = useAsk('proposals.hosts', { workspaceId, hosts: proposal.hosts }, 0)
  const manages = useManages(workspaceId)
  if (error) return <FailureNote error={error} />
  if (!data || manages === null) return <Loading />
  if (data.length > 0 && !manages) return <p>{words.askAdmin}</p>
  return <Form {...props} hosts={data} />
}

type FormProps = Props & { hosts: string[] }

function Form(props: FormProps) {
  const { workspaceId, proposal, hosts } = props
  const [projectId, setProjectId] = useState<string | null>(null)
  const [environment, setEnvironment] = useState<string | null>(null)
  const isPlaced = projectId !== null && environment !== null
  return (
    <div className="stack form">
      {hosts.length > 0 ? <p>{words.signHosts(hosts)}</p> : null}
      {hosts.length === 0 && proposal.hosts.length > 0 ? <p>{words.hostsExist}</p> : null}
      {proposal.secrets.length === 0 ? <Fields {...props} missing={[]} place={null} /> : null}
      {proposal.secrets.length > 0 ? (
        <>
          <Project
            workspaceId={workspaceId}
            value={projectId}
            onChange={(id) => {
              setProjectId(id)
              setEnvironment(null)
            }}
          />
          {projectId === null ? null : (
            <Environment projectId={projectId} value={environment} onChange={setEnvironment} />
          )}
          {isPlaced ? <Missing {...props} place={{ projectId, environment }} /> : null}
        </>
      ) : null}
      {proposal.secrets.length > 0 && !isPlaced ? <Cancel onClose={props.onClose} /> : null}
    </div>
  )
}

function Cancel({ onClose }: { onClose(): void }) {
  return (
    <div>
      <Button onPress={onClose}>{texts.common.cancel}</Button>
    </div>
  )
}

type ChoiceProps = { value: string | null; onChange(id: string): void }

function Project({ workspaceId, ...choice }: ChoiceProps & { workspaceId: string }) {
  const { data, error } = useAsk('workspaces.projects', { workspaceId })
  if (error) return <FailureNote error={error} />
  if (!data) return <Loading />
  const options = data.map(({ id, name }) => ({ id, label: name }))
  return <Select label={words.project} options={options} {...choice} />
}

function Environment({ projectId, ...choice }: ChoiceProps & { projectId: string }) {
  const { data, error } = useAsk('agents.environments', { projectId })
  if (error) return <FailureNote error={error} />
  if (!data) return <Loading />
  const options = data.map((name) => ({ id: name, label: name }))
  return <Select label={words.environment} options={options} {...choice} />
}

type Place = { projectId: string; environment: string }

function Missing({ place, ...props }: FormProps & { place: Place }) {
  const { workspaceId, proposal } = props
  const input = { workspaceId, ...place, secrets: proposal.secrets }
  const { data, error } = useAsk('proposals.secrets', input, 0)
  if (error) return <FailureNote error={error} />
  if (!data) return <Loading />
  return <Fields key={place.environment} {...props} place={place} missing={data} />
}

type FieldsProps = FormProps & { place: Place | null; missing: readonly string[] }

function Fields({ workspaceId, proposal, hosts, place, missing, onClose }: FieldsProps) {
  const [values, setValues] = useState<Record<string, string>>({})
  const accept = useCommand('proposals.accept', { changes: CHANGED })
  const submit = () => {
    const given = Object.fromEntries(missing.map((key) => [key, values[key] ?? '']))
    const stored = place && { ...place, values: given }
    accept.mutate(
      { workspaceId, proposal, hosts, stored },
      { onSuccess: () => say(words.accepted) },
    )
  }
  return (
    <FieldForm className="stack" onSubmit={submit}>
      {missing.map((key) => (
        <TextField
          key={key}
          label={words.value(key)}
          help={words.valueHelp(proposal.hosts)}
          type="password"
          autoComplete="off"
          isRequired
          mono
          value={values[key] ?? ''}
          onChange={(value) => setValues((before) => ({ ...before, [key]: value }))}
        />
      ))}
      {place && missing.length === 0 ? <p>{words.secretsExist}</p> : null}
      <div className="row">
        <Button kind="primary" type="submit" isPending={accept.isPending}>
          {words.signAndAccept(hosts.length, missing.length)}
        </Button>
        <Button onPress={onClose}>{texts.common.cancel}</Button>
      </div>
      {accept.error ? <FailureNote error={accept.error} /> : null}
    </FieldForm>
  )
}
