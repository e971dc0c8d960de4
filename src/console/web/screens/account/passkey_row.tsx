/** A passkey in the list, with its menu. */
import { useQueryClient } from '@tanstack/react-query'
import { KeyRound, LockOpen, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ConfirmDialog } from '../../parts/overlays/confirm.tsx'
import { Dialog, DialogFooter } from '../../parts/overlays/dialog.tsx'
import { IconMenu } from '../../parts/overlays/menu.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Ago } from '../../parts/show/ago.tsx'
import { dateOf } from '../../parts/show/moments.ts'
import { Status } from '../../parts/show/status.tsx'
import { letPasskeyUnlock, type OwnPasskey } from '../../passkeys/ceremonies.ts'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { PasswordDialog } from './password_dialog.tsx'

const words = texts.passkeys
const changes = ['passkeys.list'] as const

type Step = 'rename' | 'remove' | 'unlock' | null

export function PasskeyRow({ passkey }: { passkey: OwnPasskey }) {
  const [step, setStep] = useState<Step>(null)
  const { label, can_unlock, created_at, last_used_at, rp_id } = passkey
  const isHere = rp_id === location.hostname
  const canLearn = isHere && !can_unlock
  return (
    <li className="flex min-h-14 items-center gap-3 py-2">
      <span className="text-ink-3">
        <Icon of={KeyRound} />
      </span>
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{label}</p>
        <p className="text-small text-ink-3">
          {isHere ? null : `${words.elsewhere(rp_id)} · `}
          {words.added(dateOf(created_at))} ·{' '}
          {last_used_at ? (
            <>
              {words.used} <Ago at={last_used_at} />
            </>
          ) : (
            words.neverUsed
          )}
        </p>
      </div>
      <Status tone={can_unlock ? 'green' : 'neutral'}>
        {can_unlock ? words.unlocks : words.signsIn}
      </Status>
      <IconMenu
        label={words.actionsFor(label)}
        size="small"
        choices={[
          { id: 'rename', label: words.renameMore, icon: Pencil, act: () => setStep('rename') },
          ...(canLearn
            ? [
                {
                  id: 'unlock',
                  label: words.letUnlockMore,
                  icon: LockOpen,
                  act: () => setStep('unlock'),
                },
              ]
            : []),
          {
            id: 'remove',
            label: words.removeMore,
            icon: Trash2,
            isDanger: true,
            act: () => setStep('remove'),
          },
        ]}
      />
      <Dialogs passkey={passkey} step={step} onClose={() => setStep(null)} />
    </li>
  )
}

type Props = { passkey: OwnPasskey; onClose(): void }

function Dialogs({ passkey, step, onClose }: Props & { step: Step }) {
  const client = useQueryClient()
  const remove = useCommand('passkeys.remove', { changes })
  const letUnlock = async (password: string) => {
    await letPasskeyUnlock(passkey, password)
    await client.invalidateQueries({ queryKey: changes })
  }
  return (
    <>
      <Dialog title={words.renameTitle} isOpen={step === 'rename'} onClose={onClose}>
        <Rename passkey={passkey} onClose={onClose} />
      </Dialog>
      <PasswordDialog
        title={words.letUnlock}
        verb={words.letUnlock}
        isOpen={step === 'unlock'}
        onClose={onClose}
        onSubmit={letUnlock}
        note={<p className="text-ink-2">{words.letUnlockHelp(passkey.label)}</p>}
      />
      <ConfirmDialog
        verb={words.remove}
        title={words.removing(passkey.label)}
        isOpen={step === 'remove'}
        onClose={onClose}
        onConfirm={() => remove.mutateAsync({ id: passkey.id })}
      >
        <p>{words.removeHelp}</p>
      </ConfirmDialog>
    </>
  )
}

function Rename({ passkey, onClose }: Props) {
  const [label, setLabel] = useState(passkey.label)
  const rename = useCommand('passkeys.rename', { changes })
  const submit = () => rename.mutate({ id: passkey.id, label }, { onSuccess: onClose })
  return (
    <FieldForm className="flex flex-col gap-4" onSubmit={submit}>
      <TextField
        label={words.label}
        isRequired
        autoFocus
        autoComplete="off"
        value={label}
        onChange={setLabel}
      />
      {rename.error ? <FailureNote error={rename.error} /> : null}
      <DialogFooter>
        <Button onPress={onClose}>{texts.common.cancel}</Button>
        <Button kind="primary" type="submit" isPending={rename.isPending}>
          {words.rename}
        </Button>
      </DialogFooter>
    </FieldForm>
  )
}
