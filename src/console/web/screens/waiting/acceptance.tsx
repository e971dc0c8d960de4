/** The change of a proposal: hosts that are signed, and values for the secrets that an environment does not have. */
import { useState } from 'react'
import { Select } from '../../parts/fields/select.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { InspectorSection } from '../../parts/page/section.tsx'
import { DiffBlock } from '../../parts/show/diff_block.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import type { Proposal } from '../../waiting.ts'

const words = texts.waiting

export type Stored = { projectId: string; environment: string; values: Record<string, string> }

type Props = {
  workspaceId: string
  proposal: Proposal
  /** Hosts that are not allowed yet. */
  missing: readonly string[]
  /** Whether the person can accept it. */
  isOpen: boolean
  /** The form's ID. Its button is outside the form. */
  id: string
  onSubmit(stored: Stored | null): void
}

export function Acceptance({ workspaceId, proposal, missing, isOpen, id, onSubmit }: Props) {
  const { hosts, secrets } = proposal
  const [projectId, setProjectId] = useState<string | null>(null)
  const [environment, setEnvironment] = useState<string | null>(null)
  const [values, setValues] = useState<Record<string, string>>({})
  const isPlaced = projectId !== null && environment !== null
  const place = isPlaced ? { projectId, environment } : null
  const { data: absent, error } = useMissing(workspaceId, proposal, place)
  const submit = () => {
    if (secrets.length === 0) return onSubmit(null)
    if (!place || !absent) return
    const given = Object.fromEntries(absent.map((key) => [key, values[key] ?? '']))
    onSubmit({ ...place, values: given })
  }
  return (
    <>
      <InspectorSection title={words.whatChanges}>
        <Changes proposal={proposal} missing={missing} absent={absent} />
      </InspectorSection>
      {isOpen ? (
        <FieldForm
          id={id}
          className="flex flex-col gap-3 border-t border-line px-4 py-3 empty:hidden"
          onSubmit={submit}
        >
          {secrets.length > 0 ? (
            <PlaceFields
              {...{ workspaceId, projectId, environment }}
              onChange={(project, name) => {
                setProjectId(project)
                setEnvironment(name)
              }}
            />
          ) : null}
          {absent?.map((key) => (
            <TextField
              key={key}
              label={words.value(key)}
              help={words.valueHelp(hosts)}
              type="password"
              autoComplete="off"
              isRequired
              mono
              value={values[key] ?? ''}
              onChange={(value) => setValues((before) => ({ ...before, [key]: value }))}
            />
          ))}
          {absent?.length === 0 && secrets.length > 0 ? <p>{words.secretsExist}</p> : null}
          {error ? <FailureNote error={error} /> : null}
        </FieldForm>
      ) : null}
    </>
  )
}

type ChangesProps = Pick<Props, 'proposal' | 'missing'> & { absent: readonly string[] | undefined }

/** Secrets count as new until an environment is chosen that has them. */
function Changes({ proposal: { hosts, secrets }, missing, absent }: ChangesProps) {
  const isNew = (key: string) => absent?.includes(key) ?? true
  const rows = (names: readonly string[], isAdded: (name: string) => boolean, text = returnName) =>
    names.map((name) => ({
      text: text(name),
      ...(isAdded(name) ? { change: 'added' as const } : {}),
    }))
  const describeKey = (key: string) =>
    words.described(key, secrets.find((each) => each.key === key)?.description ?? null)
  const keys = secrets.map(({ key }) => key)
  return (
    <div className="flex flex-col gap-2">
      {hosts.length > 0 ? (
        <DiffBlock
          rows={[{ text: words.hosts }, ...rows(hosts, (host) => missing.includes(host))]}
        />
      ) : null}
      {keys.length > 0 ? (
        <DiffBlock rows={[{ text: words.newSecrets }, ...rows(keys, isNew, describeKey)]} />
      ) : null}
      {missing.length > 0 ? <p className="text-ink-2">{words.everyAgent}</p> : null}
      {missing.length === 0 && hosts.length > 0 ? <p>{words.hostsExist}</p> : null}
    </div>
  )
}

const returnName = (name: string) => name

type Place = { projectId: string; environment: string }

/** Secrets that the chosen environment does not have. */
function useMissing(workspaceId: string, { secrets }: Proposal, place: Place | null) {
  const input = { workspaceId, ...(place ?? { projectId: '', environment: '' }), secrets }
  return useAsk('proposals.secrets', input, 0, place !== null)
}

type PlaceProps = {
  workspaceId: string
  projectId: string | null
  environment: string | null
  onChange(projectId: string, environment: string | null): void
}

function PlaceFields({ workspaceId, projectId, environment, onChange }: PlaceProps) {
  return (
    <>
      <Project workspaceId={workspaceId} value={projectId} onChange={(id) => onChange(id, null)} />
      {projectId === null ? null : (
        <Environment
          projectId={projectId}
          value={environment}
          onChange={(name) => onChange(projectId, name)}
        />
      )}
    </>
  )
}

type ChoiceProps = { value: string | null; onChange(id: string): void }

function Project({ workspaceId, ...choice }: ChoiceProps & { workspaceId: string }) {
  const { data = [], error } = useAsk('workspaces.projects', { workspaceId })
  if (error) return <FailureNote error={error} />
  const options = data.map(({ id, name }) => ({ id, label: name }))
  return <Select label={words.project} isRequired options={options} {...choice} />
}

function Environment({ projectId, ...choice }: ChoiceProps & { projectId: string }) {
  const { data = [], error } = useAsk('agents.environments', { projectId })
  if (error) return <FailureNote error={error} />
  const options = data.map((name) => ({ id: name, label: name }))
  return <Select label={words.environment} isRequired options={options} {...choice} />
}
