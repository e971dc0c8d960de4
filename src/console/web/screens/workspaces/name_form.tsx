/** Asks for the name of a workspace, in a dialog. */
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { DialogFooter } from '../../parts/overlays/dialog.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { texts } from '../../texts/index.ts'

type Props = {
  first: string
  verb: string
  help?: string
  isPending: boolean
  error: unknown
  onSubmit(name: string): void
  onCancel(): void
}

export function NameForm({ first, verb, help, isPending, error, onSubmit, onCancel }: Props) {
  const [name, setName] = useState(first)
  return (
    <FieldForm className="flex flex-col gap-4" onSubmit={() => onSubmit(name.trim())}>
      <TextField
        label={texts.workspaces.name}
        {...(help ? { help } : {})}
        isRequired
        autoFocus
        autoComplete="off"
        value={name}
        onChange={setName}
      />
      {error ? <FailureNote error={error} /> : null}
      <DialogFooter>
        <Button onPress={onCancel}>{texts.common.cancel}</Button>
        <Button kind="primary" type="submit" isPending={isPending}>
          {verb}
        </Button>
      </DialogFooter>
    </FieldForm>
  )
}
