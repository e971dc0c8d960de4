/** Revokes a token, from its list or from a call that it made. Names what stops working. */
import type { Input } from '../../keys/messages.ts'
import { ConfirmDialog } from '../../parts/overlays/confirm.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.agents

type Props = {
  owner: Input<'agents.tokens'>
  tokenId: string
  /** The owner's. */
  name: string
  label: string
  onClose(): void
}

export function RevokeQuestion({ owner, tokenId, name, label, onClose }: Props) {
  const revoke = useCommand('agents.revoke', {
    changes: ['agents.tokens', 'agents.list', 'agents.all'],
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
      <p className="text-ink-2">{words.noUndo}</p>
    </ConfirmDialog>
  )
}

/** A record has only the token's ID, so its terms are read now. */
function WhatEnds({ owner, tokenId, name }: Pick<Props, 'owner' | 'tokenId' | 'name'>) {
  const { data, error } = useAsk('agents.tokens', owner)
  if (error) return <FailureNote error={error} />
  if (!data) return <p role="status">{words.looking}</p>
  const token = data.find(({ id }) => id === tokenId)
  if (token?.status !== 'active') return <p>{words.endedBefore}</p>
  return <p>{words.revoking(name, token.label, token.capabilities)}</p>
}
