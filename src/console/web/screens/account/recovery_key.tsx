/** The recovery key anew, where the paper may be lost or seen. */
import { offerRecoveryKey } from '../../frame/recovery_key.ts'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Section, WithPassword } from './section.tsx'

const words = texts.account.recovery

export function RecoveryKey() {
  const make = useCommand('credentials.newRecoveryKey')
  const submit = async (current: string) => {
    const { recoveryKey } = await make.mutateAsync({ current })
    offerRecoveryKey(recoveryKey)
  }
  return (
    <Section title={words.title} what={words.what}>
      <WithPassword open={words.open} verb={words.verb} onSubmit={submit} />
    </Section>
  )
}
