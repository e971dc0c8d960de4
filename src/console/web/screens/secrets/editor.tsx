/** One secret in one environment: its value, its versions, its policy. */
import { useState } from 'react'
import { SECRET_NAME } from '../../../../core/names/secret_name.ts'
import { ask } from '../../keys/ask.ts'
import { Button } from '../../parts/button.tsx'
import { Checkbox } from '../../parts/fields/checkbox.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { TextArea } from '../../parts/fields/text_area.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { SecretValue } from '../../parts/show/secret_value.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { texts } from '../../texts/index.ts'
import { taken } from './carried.ts'
import { type Cell, daysSince, type PaneProps, type Project, useGo, useMayHere } from './place.ts'
import { PolicyOf } from './policies.tsx'
import { Remove } from './remove.tsx'
import { useSave } from './save.ts'
import { Versions } from './versions.tsx'

const words = texts.secrets

type EditorProps = PaneProps & { name: string; environment: string }

export function Editor({ place, matrix, name, environment }: EditorProps) {
  const cell = matrix.rows.find(({ key }) => key === name)?.cells[environment]
  const writes = useMayHere('secret.write')
  const at = { ...place, environment }
  const missing = <p>{words.isMissing}</p>
  const contents = {
    value: <Value place={place} name={name} environment={environment} cell={cell} />,
    versions: cell ? <Versions place={{ ...at, key: name }} /> : missing,
    policy: cell ? <PolicyOf place={at} name={name} cell={cell} /> : missing,
  }
  return (
    <>
      <Tabs
        label={words.inEnvironment(name, environment)}
        tabs={(['value', 'versions', 'policy'] as const).map((id) => ({
          id,
          label: words.tabs[id],
          content: contents[id],
        }))}
      />
      {cell && writes ? (
        <div>
          <Remove place={at} keys={[name]} />
        </div>
      ) : null}
    </>
  )
}

type ValueProps = { place: Project; name: string; environment: string; cell: Cell | undefined }

function Value(props: ValueProps) {
  const { name, environment, cell } = props
  const writes = useMayHere('secret.write')
  return (
    <div className="stack">
      {/* What is shown of one secret is never shown under the name of another. */}
      {cell ? (
        <Stored key={`${name} ${environment}`} {...props} cell={cell} />
      ) : (
        <p>{words.isMissing}</p>
      )}
      {writes ? <ValueForm {...props} /> : null}
    </div>
  )
}

function Stored({ place, name, environment, cell }: ValueProps & { cell: Cell }) {
  const [failed, setFailed] = useState<unknown>(null)
  const at = { ...place, environment, key: name }
  return (
    <>
      <SecretValue name={name} read={() => ask('secrets.reveal', at)} onError={setFailed} />
      {failed ? <FailureNote error={failed} /> : null}
      <p className="soft small">{words.changedAt(cell.version, daysSince(cell.updatedAt))}</p>
    </>
  )
}

function ValueForm({ place, name, environment, cell }: ValueProps) {
  const [value, setValue] = useState(() => taken(name, environment))
  const [isShown, setShown] = useState(false)
  const at = `${name} ${environment}`
  const [chosen, setChosen] = useState({ at, isSetting: cell?.isSensitive === false })
  // What was chosen for one secret is not chosen for another whose name is typed then.
  const isSetting = chosen.at === at ? chosen.isSetting : cell?.isSensitive === false
  const save = useSave(place)
  const submit = () => {
    if (save.isPending) return
    const expectedVersion = cell?.version ?? 0
    save.mutate(
      { ...place, environment, key: name, value, expectedVersion, isSetting },
      {
        onSuccess: () => {
          setValue('')
          // What was sent is kept as long as it is shown here.
          save.reset()
          say(words.saved(name, environment))
        },
      },
    )
  }
  return (
    <FieldForm className="stack" onSubmit={submit}>
      <TextArea
        label={cell ? words.newValue : words.value}
        help={words.valueHelp}
        isHidden={!isShown}
        isRequired
        value={value}
        onChange={setValue}
      />
      <Checkbox isSelected={isShown} onChange={setShown}>
        {words.showTyped}
      </Checkbox>
      <Checkbox isSelected={isSetting} onChange={(is) => setChosen({ at, isSetting: is })}>
        {words.isSetting}
      </Checkbox>
      {save.error ? <FailureNote error={save.error} /> : null}
      <div>
        <Button type="submit" kind="primary" isPending={save.isPending}>
          {words.save}
        </Button>
      </div>
    </FieldForm>
  )
}

const NAME = new RegExp(`^${SECRET_NAME}$`)

export function NewSecret({ place, matrix, environment }: PaneProps & { environment: string }) {
  const [name, setName] = useState('')
  const go = useGo()
  const isBad = name !== '' && !NAME.test(name)
  const cell = matrix.rows.find(({ key }) => key === name)?.cells[environment]
  return (
    <div className="stack">
      <TextField
        label={words.name}
        help={words.nameHelp}
        mono
        autoComplete="off"
        value={name}
        onChange={setName}
        error={isBad ? words.badName : undefined}
      />
      <Select
        label={words.environment}
        options={matrix.environments.map((id) => ({ id, label: id }))}
        value={environment}
        onChange={(chosen) => go({ environment: chosen }, true)}
      />
      {name === '' || isBad ? null : (
        <Value place={place} name={name} environment={environment} cell={cell} />
      )}
    </div>
  )
}
