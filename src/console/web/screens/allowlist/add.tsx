/** Adds an allowed host. */
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { Dialog, DialogFooter } from '../../parts/overlays/dialog.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { hostIn } from './host_text.ts'

const words = texts.allowlist

type Props = { workspaceId: string; isOpen: boolean; onClose(): void }

export function AddHost({ workspaceId, isOpen, onClose }: Props) {
  return (
    <Dialog title={words.addTitle} isOpen={isOpen} onClose={onClose}>
      <AddForm workspaceId={workspaceId} onClose={onClose} />
    </Dialog>
  )
}

function AddForm({ workspaceId, onClose }: Omit<Props, 'isOpen'>) {
  const [text, setText] = useState('')
  const add = useCommand('allowlist.add', { changes: ['allowlist.list'] })
  const domain = hostIn(text)
  const isShortened = domain !== text.trim()
  const fault = add.error?.code === 'validation_error' ? words.invalid : undefined
  const submit = () =>
    add.mutate(
      { workspaceId, domain },
      {
        onSuccess: ({ isNew }) => {
          say(isNew ? words.isAdded(domain) : words.present(domain))
          onClose()
        },
      },
    )
  return (
    <FieldForm className="flex flex-col gap-4" onSubmit={submit}>
      <p className="text-ink-2">{words.addWhat}</p>
      <TextField
        label={words.domain}
        help={isShortened ? words.shortened(domain) : words.domainHelp}
        isRequired
        autoFocus
        mono
        value={text}
        onChange={(value) => {
          add.reset()
          setText(value)
        }}
        error={fault}
      />
      {add.error && fault === undefined ? <FailureNote error={add.error} /> : null}
      <DialogFooter>
        <Button onPress={onClose}>{texts.common.cancel}</Button>
        <Button kind="primary" type="submit" isPending={add.isPending}>
          {words.add}
        </Button>
      </DialogFooter>
    </FieldForm>
  )
}
