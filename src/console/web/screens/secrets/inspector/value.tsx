/** The value of one secret in one environment, and a form that replaces it. */
import { useState } from 'react'
import { ask } from '../../../keys/ask.ts'
import { Button } from '../../../parts/button.tsx'
import { Checkbox } from '../../../parts/fields/checkbox.tsx'
import { TextArea } from '../../../parts/fields/text_area.tsx'
import { FieldForm } from '../../../parts/form.tsx'
import { say } from '../../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { SecretValue } from '../../../parts/show/secret_value.tsx'
import { texts } from '../../../texts/index.ts'
import { taken } from '../carried.ts'
import { type Cell, daysSince, type Project, useMayHere } from '../place.ts'
import { useSave } from '../save.ts'

const words = texts.secrets

type ValueProps = { place: Project; name: string; environment: string; cell: Cell | undefined }

export function Value(props: ValueProps) {
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
