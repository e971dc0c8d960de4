/** The button that signs in or unlocks with a passkey. It comes first, and the browser prompts immediately if it can. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { Fingerprint } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { AskError, ask } from '../keys/ask.ts'
import { Button } from '../parts/button.tsx'
import { FailureNote } from '../parts/page/failure.tsx'
import { texts } from '../texts/index.ts'
import { enterByPasskey, type PasskeyStay, unlockByPasskey } from './ceremonies.ts'
import { usePasskeysHere } from './here.ts'
import { mayPrompt } from './prompting.ts'

type Props = {
  isLocked: boolean
  staying: PasskeyStay
  /** Called when the button appears or disappears. */
  onShown(isShown: boolean): void
}

export default function UsePasskey({ isLocked, staying, onShown }: Props) {
  const isHere = usePasskeysHere()
  if (!isHere) return null
  if (isLocked) return <Unlock staying={staying} onShown={onShown} />
  return (
    <Ceremony
      words={texts.passkeys.signIn}
      isPrompted={false}
      onShown={onShown}
      run={() => enterByPasskey(staying)}
    />
  )
}

/** Renders nothing if no passkey of the account can unlock. */
function Unlock({ staying, onShown }: Omit<Props, 'isLocked'>) {
  const { data = [] } = useQuery({
    queryKey: ['passkeys.toUnlock'],
    queryFn: () => ask('passkeys.list', null),
  })
  const able = data.filter((one) => one.can_unlock && one.rp_id === location.hostname)
  if (able.length === 0) return null
  return (
    <Ceremony
      words={texts.passkeys.unlock}
      isPrompted
      onShown={onShown}
      run={() => unlockByPasskey(able, staying)}
    />
  )
}

type CeremonyProps = Pick<Props, 'onShown'> & {
  words: string
  /** Prompts once without a press. */
  isPrompted: boolean
  run(): Promise<unknown>
}

function Ceremony({ words, isPrompted, onShown, run }: CeremonyProps) {
  const ceremony = useMutation({ mutationFn: run })
  const prompt = useMutation({ mutationFn: run })
  const isAsked = useRef(false)
  const { mutate } = prompt
  useEffect(() => {
    onShown(true)
    return () => onShown(false)
  }, [onShown])
  useEffect(() => {
    if (!isPrompted || isAsked.current || !mayPrompt()) return
    isAsked.current = true
    mutate()
  }, [isPrompted, mutate])
  const error = ceremony.error ?? (isStopped(prompt.error) ? null : prompt.error)
  return (
    <div className="flex flex-col gap-3">
      <Button
        kind="primary"
        icon={Fingerprint}
        isFull
        isPending={ceremony.isPending || prompt.isPending}
        onPress={() => {
          prompt.reset()
          ceremony.mutate()
        }}
      >
        {words}
      </Button>
      {error ? <FailureNote error={error} /> : null}
      <p className="flex items-center gap-3 text-small text-ink-3 before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        {texts.passkeys.orPassword}
      </p>
    </div>
  )
}

/** A user who closes an automatic prompt wants the password. */
function isStopped(error: unknown): boolean {
  return error instanceof AskError && error.code === 'passkey_stopped'
}
