/** New keys of the account: what ends with the old ones, what of it is to stay, and what is left to do. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { offerRecoveryKey } from '../../frame/recovery_key.ts'
import { ask } from '../../keys/ask.ts'
import type { Returned } from '../../keys/messages.ts'
import { Choices } from '../../parts/fields/checkbox.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { ProgressMeter } from '../../parts/page/progress.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Section, WithPassword } from './section.tsx'

const words = texts.account.keys
const DONE = ['account.rotated']

type Done = Omit<Returned<'rotation.rotate'>, 'recoveryKey'>

export function AccountKeysSection() {
  const client = useQueryClient()
  const { data: done } = useQuery<Done>({ queryKey: DONE, enabled: false })
  const [keep, setKeep] = useState<string[]>([])
  const [step, setStep] = useState<string | null>(null)
  const submit = async (current: string) => {
    try {
      const made = await ask('rotation.rotate', { current, keep }, (now) => setStep(now.step))
      const { recoveryKey, ...rest } = made
      await client.invalidateQueries()
      client.setQueryData(DONE, rest)
      // Before all else: it is shown this once.
      offerRecoveryKey(recoveryKey)
    } finally {
      setStep(null)
    }
  }
  return (
    <Section title={words.title} what={words.what}>
      {done ? <Outcome done={done} /> : null}
      <WithPassword open={words.open} verb={words.verb} isDanger onSubmit={submit}>
        <p>{words.ends}</p>
        <Kept keep={keep} setKeep={setKeep} />
        {step === null ? null : <ProgressMeter label={words.steps[step] ?? step} />}
      </WithPassword>
    </Section>
  )
}

function Kept({ keep, setKeep }: { keep: string[]; setKeep(ids: string[]): void }) {
  const { data, error } = useAsk('rotation.tokens', null)
  if (error) return <FailureNote error={error} />
  if (!data || data.found.length === 0) return null
  const options = data.found.map(({ id, label, environments }) => ({
    id,
    label: words.token(label, environments.join(', ')),
  }))
  return (
    <>
      <Choices label={words.kept} options={options} value={keep} onChange={setKeep} />
      <p className="help">{words.keptHelp}</p>
    </>
  )
}

function Outcome({ done: { isCertain, rekey, granted, left } }: { done: Done }) {
  return (
    <Banner kind={isCertain ? 'good' : 'warning'}>
      <p>{isCertain ? words.done : words.uncertain}</p>
      {granted.length > 0 ? (
        <p>{words.granted(granted.map(({ label }) => label).join(', '))}</p>
      ) : null}
      {left.length > 0 ? (
        <ul>
          {left.map(({ id, label, reason }) => (
            <li key={id}>{words.left(label, reason)}</li>
          ))}
        </ul>
      ) : null}
      {rekey.length > 0 ? <p>{words.rekey}</p> : null}
      {rekey.map(({ id, name }) => (
        <CopyButton key={id} text={`cloakroom workspace rekey -w ${id}`} name={name} />
      ))}
    </Banner>
  )
}
