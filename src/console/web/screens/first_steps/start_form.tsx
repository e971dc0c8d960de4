/** The first two steps as one form: an API key, which fills in its name and host, and the agent that uses it. */
import { useState } from 'react'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { RadioCards } from '../../parts/fields/radio_cards.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { hostIn } from '../allowlist/host_text.ts'
import { agentNames, type Starter, starters } from './blocks.ts'
import { rememberCreated } from './created.ts'
import { providerOfKey } from './providers.ts'
import { Step } from './step.tsx'

const words = texts.firstSteps

export type FirstRunProgress = Returned<'first_steps.progress'>

type Props = {
  workspaceId: string
  progress: FirstRunProgress
  starter: Starter
  setStarter(starter: Starter): void
}

export function StartForm({ workspaceId, progress, starter, setStarter }: Props) {
  const [typed, setTyped] = useState({ value: '', key: '', host: '' })
  const start = useCommand('first_steps.start', {
    changes: [
      ...(['first_steps.progress', 'secrets.matrix', 'workspaces.projects'] as const),
      ...(['allowlist.list', 'agents.list', 'agents.all'] as const),
    ],
  })
  const { secret, host } = progress
  const submit = () => {
    const { value, key } = typed
    const added = {
      secret: secret === null ? { key, value } : null,
      host: host === null ? hostIn(typed.host) : null,
    }
    start.mutate(
      { workspaceId, ...added, agent: agentNames[starter] },
      { onSuccess: ({ id }) => rememberCreated(workspaceId, id) },
    )
  }
  const isDone = secret !== null && host !== null
  return (
    <li className="list-none">
      <FieldForm className="flex flex-col gap-6" onSubmit={submit}>
        <ol className="flex flex-col gap-6">
          <Step number={1} title={words.key.title} isDone={isDone} isCurrent={!isDone}>
            {isDone ? <p className="text-ink-2">{words.key.done(secret, host)}</p> : null}
            <KeyFields progress={progress} typed={typed} setTyped={setTyped} />
          </Step>
          <Step number={2} title={words.choice.title} isCurrent={isDone}>
            <StarterChoice value={starter} onChange={setStarter} />
            {start.error ? <FailureNote error={start.error} /> : null}
            <Button kind="primary" type="submit" isPending={start.isPending}>
              {isDone ? words.choice.verb : words.choice.verbs}
            </Button>
          </Step>
        </ol>
      </FieldForm>
    </li>
  )
}

type Typed = { value: string; key: string; host: string }
type FieldsProps = { progress: FirstRunProgress; typed: Typed; setTyped(typed: Typed): void }

function KeyFields({ progress: { secret, host }, typed, setTyped }: FieldsProps) {
  const provider = providerOfKey(typed.value)
  const shortened = hostIn(typed.host)
  const onValue = (pasted: string) => {
    const value = pasted.trim()
    const found = providerOfKey(value)
    const filled = found && value !== typed.value ? { key: found.key, host: found.host } : {}
    setTyped({ ...typed, value, ...filled })
  }
  return (
    <div className="grid max-w-160 grid-cols-2 gap-3 empty:hidden phone:grid-cols-1">
      {secret === null ? (
        <>
          <div className="col-span-full">
            <TextField
              label={words.key.value}
              help={provider ? words.key.known(provider.title) : words.key.help}
              type="password"
              autoComplete="off"
              isRequired
              autoFocus
              value={typed.value}
              onChange={onValue}
            />
          </div>
          <TextField
            label={words.key.name}
            isRequired
            mono
            value={typed.key}
            onChange={(key) => setTyped({ ...typed, key })}
          />
        </>
      ) : null}
      {host === null ? (
        <TextField
          label={words.key.host}
          isRequired
          mono
          {...(shortened === typed.host.trim() ? {} : { help: words.key.shortened(shortened) })}
          value={typed.host}
          onChange={(text) => setTyped({ ...typed, host: text })}
        />
      ) : null}
    </div>
  )
}

export function StarterChoice({
  value,
  onChange,
}: {
  value: Starter
  onChange(starter: Starter): void
}) {
  return (
    <RadioCards
      label={words.choice.label}
      isLabelHidden
      isRow
      options={starters.map((id) => ({ id, ...words.starters[id] }))}
      value={value}
      onChange={onChange}
    />
  )
}
