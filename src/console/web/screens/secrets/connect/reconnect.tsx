/** Connects a secret again whose provider refuses to renew it. Client, scopes and policy stay. */
import { useEffect, useState } from 'react'
import { ask } from '../../../keys/ask.ts'
import { Button } from '../../../parts/button.tsx'
import { Checkbox } from '../../../parts/fields/checkbox.tsx'
import { TextField } from '../../../parts/fields/text_field.tsx'
import { FieldForm } from '../../../parts/form.tsx'
import { SHEET_FORM, SheetFooter } from '../../../parts/overlays/sheet.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { useAsk } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import { type PaneProps, useEnvironment, useParameter } from '../place.ts'
import { Pane } from '../sheets/pane.tsx'
import { useStored } from './connect_form.tsx'
import { useCommandText } from './use_command_text.ts'
import { useFlow } from './use_flow.ts'
import { ConnectWaiting, WaitingForCommand } from './waiting.tsx'

const words = texts.connect

type Props = PaneProps & { project: string }

/** The address names the secret. */
export function Reconnect(props: Props) {
  const key = useParameter('key')
  const { data } = useAsk('connections.providers', null)
  if (key === undefined) return null
  return (
    <Pane title={words.reconnect(key)}>
      {data?.isLocal === true ? <Again {...props} name={key} /> : null}
      {data?.isLocal === false ? <AtTerminal {...props} name={key} /> : null}
    </Pane>
  )
}

function Again({ place, matrix, name }: Props & { name: string }) {
  const environment = useEnvironment(matrix)
  const [isDevice, setDevice] = useState(false)
  const [redirectUri, setRedirectUri] = useState('')
  const [authorizeUrl, setAuthorizeUrl] = useState('')
  const { started, error, isPending, begin } = useFlow(false, useStored())
  const submit = () => {
    const again = {
      ...(isDevice ? { device: true } : {}),
      ...(redirectUri === '' ? {} : { redirectUri }),
      ...(authorizeUrl === '' ? {} : { authorizeUrl }),
    }
    const at = { ...place, environment, key: name }
    void begin(() => ask('connections.reconnect', { ...at, again }))
  }
  if (started) return <ConnectWaiting started={started} error={error} />
  return (
    <FieldForm className={SHEET_FORM} onSubmit={submit}>
      {error ? (
        <>
          <FailureNote error={error} />
          <TextField
            label={words.authorizeUrl}
            type="url"
            mono
            value={authorizeUrl}
            onChange={setAuthorizeUrl}
          />
        </>
      ) : null}
      <TextField
        label={words.redirectUri}
        help={words.redirectAgainHelp}
        mono
        value={redirectUri}
        onChange={setRedirectUri}
      />
      <Checkbox isSelected={isDevice} onChange={setDevice}>
        {words.device}
      </Checkbox>
      <SheetFooter>
        <Button type="submit" kind="primary" isPending={isPending}>
          {error ? words.retry : words.connect}
        </Button>
      </SheetFooter>
    </FieldForm>
  )
}

function AtTerminal({ place, matrix, project, name }: Props & { name: string }) {
  const environment = useEnvironment(matrix)
  const at = { ...place, environment }
  const { command, show, isReady } = useCommandText(at, project)
  const [after] = useState(
    () => matrix.rows.find(({ key }) => key === name)?.cells[environment]?.version ?? 0,
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each secret.
  useEffect(() => void show(name, null), [name, environment, isReady])
  if (command === null) return null
  return <WaitingForCommand command={command} place={at} name={name} after={after} />
}
