/** The way to end a token, from its list or from a call that it made. */
import { useId, useMemo, useState } from 'react'
import { usePaletteCommands } from '../../frame/palette_state.ts'
import type { Input } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/overlays/confirm.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.agents

type Owner = Input<'agents.tokens'>
/** `name` is whose it is. */
type Props = { owner: Owner; tokenId: string; name: string; label: string }

export function Revoke(props: Props) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const label = words.revokeOf(props.label, props.name)
  const commands = useMemo(() => [{ id, label, act: () => setOpen(true) }], [id, label])
  usePaletteCommands(commands)
  return (
    <>
      <Button kind="danger" aria-label={label} onPress={() => setOpen(true)}>
        {words.revoke}
      </Button>
      {isOpen ? <RevokeQuestion {...props} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

export function RevokeQuestion({
  owner,
  tokenId,
  name,
  label,
  onClose,
}: Props & { onClose(): void }) {
  const revoke = useCommand('agents.revoke', {
    changes: ['agents.tokens', 'agents.list'],
  })
  return (
    <ConfirmDialog
      verb={words.revoke}
      title={words.revokeNamed(label)}
      isOpen
      onClose={onClose}
      onConfirm={async () => {
        const { isUnsigned } = await revoke.mutateAsync({ ...owner, tokenId })
        say(words.revoked(label))
        if (isUnsigned) say(words.unsigned)
      }}
    >
      <WhatEnds owner={owner} tokenId={tokenId} name={name} />
      <p>{words.noUndo}</p>
    </ConfirmDialog>
  )
}

/** Of a record only the id is known: which one that is, is read when somebody asks. */
function WhatEnds({ owner, tokenId, name }: Omit<Props, 'label'>) {
  const { data, error } = useAsk('agents.tokens', owner)
  if (error) return <FailureNote error={error} />
  if (!data) return <p role="status">{words.looking}</p>
  const token = data.find(({ id }) => id === tokenId)
  if (token?.status !== 'active') return <p>{words.endedBefore}</p>
  return <p>{words.revoking(name, token.label, words.may(token.capabilities))}</p>
}
