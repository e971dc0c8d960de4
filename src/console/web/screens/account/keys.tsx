/** The fingerprint of the account's keys, and new keys if someone else may have a copy. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { offerRecoveryKey } from '../../frame/recovery_key.ts'
import { ask } from '../../keys/ask.ts'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { Choices } from '../../parts/fields/checkbox.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { Card } from '../../parts/page/card.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { ProgressMeter } from '../../parts/page/progress.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Fingerprint } from '../members/fingerprint.tsx'
import { Effects } from './effects.tsx'
import { PasswordDialog } from './password_dialog.tsx'

const words = texts.account.keys
const DONE = ['account.rotated']

type Done = Omit<Returned<'rotation.rotate'>, 'recoveryKey'>

export function AccountKeysCard() {
  const [isOpen, setOpen] = useState(false)
  const [keep, setKeep] = useState<string[]>([])
  const { data: done } = useQuery<Done>({ queryKey: DONE, enabled: false })
  const { rotate, step } = useRotation()
  return (
    <Card
      title={words.title}
      description={words.description}
      action={<Button onPress={() => setOpen(true)}>{words.replace}</Button>}
    >
      <OwnFingerprint />
      {done ? <Outcome done={done} /> : null}
      <PasswordDialog
        title={words.question}
        verb={words.verb}
        isDanger
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        note={<Effects title={words.whatEnds} effects={words.ends} />}
        onSubmit={(current) => rotate(current, keep)}
      >
        <KeptTokens keep={keep} setKeep={setKeep} />
        {step === null ? null : <ProgressMeter label={words.steps[step] ?? step} />}
      </PasswordDialog>
    </Card>
  )
}

function useRotation() {
  const client = useQueryClient()
  const [step, setStep] = useState<string | null>(null)
  const rotate = async (current: string, keep: readonly string[]) => {
    try {
      const made = await ask('rotation.rotate', { current, keep }, (now) => setStep(now.step))
      const { recoveryKey, ...rest } = made
      await client.invalidateQueries()
      client.setQueryData(DONE, rest)
      // It is shown only once, so it comes before everything else.
      offerRecoveryKey(recoveryKey)
    } finally {
      setStep(null)
    }
  }
  return { rotate, step }
}

function OwnFingerprint() {
  const { data, error } = useAsk('credentials.fingerprint', null)
  if (error) return <FailureNote error={error} />
  return data ? <Fingerprint text={data} /> : null
}

function KeptTokens({ keep, setKeep }: { keep: string[]; setKeep(ids: string[]): void }) {
  const { data, error } = useAsk('rotation.tokens', null)
  if (error) return <FailureNote error={error} />
  if (!data || data.found.length === 0) return null
  const options = data.found.map(({ id, label, environments }) => ({
    id,
    label: words.token(label, environments.join(', ')),
  }))
  return (
    <div className="flex flex-col gap-1">
      <Choices label={words.kept} options={options} value={keep} onChange={setKeep} />
      <p className="text-small text-ink-2">{words.keptHelp}</p>
    </div>
  )
}

function Outcome({ done: { isCertain, rekey, granted, left } }: { done: Done }) {
  return (
    <Banner kind={isCertain ? 'good' : 'warning'}>
      {(isCertain ? words.done : words.uncertain).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {granted.length > 0 ? (
        <p>{words.granted(granted.map(({ label }) => label).join(', '))}</p>
      ) : null}
      {left.length > 0 ? (
        <Effects
          title={words.left}
          effects={left.map(({ label, reason }) => words.leftToken(label, reason))}
        />
      ) : null}
      {rekey.length > 0 ? <p>{words.rekey}</p> : null}
      {rekey.map(({ id, name }) => (
        <CopyButton key={id} text={`cloakroom workspace rekey -w ${id}`} name={name} />
      ))}
    </Banner>
  )
}
