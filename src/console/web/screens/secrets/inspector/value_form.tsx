/** Replaces a value, or adds the one that is missing. */
import { useState } from 'react'
import { Button } from '../../../parts/button.tsx'
import { Checkbox } from '../../../parts/fields/checkbox.tsx'
import { TextArea } from '../../../parts/fields/text_area.tsx'
import { FieldForm } from '../../../parts/form.tsx'
import { say } from '../../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { texts } from '../../../texts/index.ts'
import type { Carried } from '../carried.ts'
import type { Cell, SecretsPlace } from '../place.ts'
import { useSave } from '../save.ts'

const words = texts.inspector

type Props = {
  place: SecretsPlace
  name: string
  cell: Cell | undefined
  /** Pasted or revealed in the table, and too long for its field. */
  carried: Carried
  onDone?(): void
}

export function ValueForm({ place, name, cell, carried, onDone }: Props) {
  const [value, setValue] = useState(carried.text)
  const [isShown, setShown] = useState(false)
  const [isSetting, setSetting] = useState(cell?.isSensitive === false)
  const save = useSave(place)
  const { environment } = place
  const submit = () => {
    if (save.isPending) return
    const expectedVersion = cell?.version ?? 0
    save.mutate(
      { ...place, key: name, value, expectedVersion, isSetting },
      {
        onSuccess: () => {
          setValue('')
          // The mutation keeps what was sent for as long as it is shown here.
          save.reset()
          say(words.saved(name, environment))
          onDone?.()
        },
      },
    )
  }
  return (
    <FieldForm className="flex flex-col gap-3" onSubmit={submit}>
      <TextArea
        label={cell ? words.newValue : words.value}
        help={words.valueHelp}
        isHidden={!isShown}
        isRequired
        autoFocus={cell !== undefined}
        value={value}
        stored={carried.stored}
        onChange={setValue}
      />
      <Checkbox isSelected={isShown} onChange={setShown}>
        {words.showTyped}
      </Checkbox>
      <Checkbox isSelected={isSetting} onChange={setSetting}>
        {words.notSensitive}
      </Checkbox>
      {save.error ? <FailureNote error={save.error} /> : null}
      <div className="flex gap-2">
        <Button type="submit" kind="primary" isPending={save.isPending}>
          {cell ? words.save : words.add}
        </Button>
        {onDone ? (
          <Button kind="ghost" onPress={onDone}>
            {texts.common.cancel}
          </Button>
        ) : null}
      </div>
    </FieldForm>
  )
}
