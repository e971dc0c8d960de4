/** A new secret that a provider issues and renews. */
import { useCallback, useState } from 'react'
import { SECRET_NAME } from '../../../../../core/names/secret_name.ts'
import { ask } from '../../../keys/ask.ts'
import { useManages } from '../../../manages.ts'
import { Button } from '../../../parts/button.tsx'
import { Checkbox } from '../../../parts/fields/checkbox.tsx'
import { TextField } from '../../../parts/fields/text_field.tsx'
import { FieldForm } from '../../../parts/form.tsx'
import { SHEET_FORM } from '../../../parts/overlays/sheet.tsx'
import { say } from '../../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { SkeletonRows } from '../../../parts/page/skeleton.tsx'
import { useAsk } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import { type PaneProps, type SecretsPlace, useEnvironment, useGo } from '../place.ts'
import { EnvironmentSelect } from '../sheets/environment_select.tsx'
import { connectChoiceOf, EMPTY } from './draft.ts'
import { ProviderFields } from './fields.tsx'
import { useCommandText } from './use_command_text.ts'
import { useFlow } from './use_flow.ts'
import { ConnectWaiting, WaitingForCommand } from './waiting.tsx'

const words = texts.connect
const NAME = new RegExp(`^${SECRET_NAME}$`)

export function ConnectForm(props: Pick<PaneProps, 'place' | 'matrix'> & { project: string }) {
  const { data, error } = useAsk('connections.providers', null)
  if (error) return <FailureNote error={error} />
  return data ? <Form {...props} {...data} /> : <SkeletonRows count={4} />
}

type FormProps = Parameters<typeof ConnectForm>[0] & {
  isLocal: boolean
  providers: Parameters<typeof ProviderFields>[0]['providers']
}

function Form({ place, matrix, project, isLocal, providers }: FormProps) {
  const environment = useEnvironment(matrix)
  const at = { ...place, environment }
  const manages = useManages(place.workspaceId) ?? false
  const [draft, setDraft] = useState(EMPTY)
  const [allow, setAllow] = useState(true)
  const { started, error, isPending, begin } = useFlow(manages && allow, useStored())
  const { command, show } = useCommandText(at, project)
  const { key } = draft
  const problem = problemOf(key, at, matrix)
  const submit = () => {
    if (problem !== undefined) return
    const choice = connectChoiceOf(draft)
    if (isLocal) void begin(() => ask('connections.start', { ...at, key, choice }))
    else void show(key, choice)
  }
  if (started) return <ConnectWaiting started={started} error={error} />
  if (command !== null) {
    return <WaitingForCommand command={command} place={at} name={key} after={0} />
  }
  return (
    <FieldForm className={SHEET_FORM} onSubmit={submit}>
      <TextField
        label={texts.secretSheets.name}
        mono
        isRequired
        autoComplete="off"
        value={key}
        onChange={(name) => setDraft({ ...draft, key: name })}
        error={problem}
      />
      <EnvironmentSelect matrix={matrix} />
      <ProviderFields
        draft={draft}
        onChange={setDraft}
        providers={providers}
        hasSecretField={isLocal}
      />
      {isLocal && manages ? (
        <Checkbox isSelected={allow} onChange={setAllow}>
          {words.allow}
        </Checkbox>
      ) : null}
      {error ? (
        <div ref={scrollIntoView}>
          <FailureNote error={error} />
        </div>
      ) : null}
      <Button type="submit" kind="primary" isPending={isPending}>
        {isLocal ? words.connect : words.getCommand}
      </Button>
    </FieldForm>
  )
}

/** The form is higher than the sheet. */
function scrollIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' })
}

function problemOf(key: string, { environment }: SecretsPlace, { rows }: PaneProps['matrix']) {
  if (key === '') return undefined
  if (!NAME.test(key)) return texts.secretSheets.badName
  const isTaken = rows.some((row) => row.key === key && row.cells[environment] !== undefined)
  return isTaken ? texts.secretSheets.taken(key) : undefined
}

/** Reports the stored secret, and closes the sheet. */
export function useStored() {
  const go = useGo()
  return useCallback(
    ({ key, missing }: { key: string; missing: readonly string[] }) => {
      const hosts = missing.length > 0 ? ` ${words.hostsMissing(missing)}` : ''
      say(`${words.connected(key)}${hosts}`)
      go({ pane: undefined })
    },
    [go],
  )
}
