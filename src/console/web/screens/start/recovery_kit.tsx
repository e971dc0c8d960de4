/** The recovery key, once: what opens the account when the password is lost. */
import { Button } from '../../parts/button.tsx'
import { texts } from '../../texts/index.ts'

type Props = { email: string; recoveryKey: string; onKept(): void }

export default function RecoveryKit({ email, recoveryKey, onKept }: Props) {
  const words = texts.start.kit
  return (
    <main className="start stack">
      <h1>{words.title}</h1>
      <p>{words.why}</p>
      <p className="soft">{email}</p>
      <p>
        <code>{recoveryKey}</code>
      </p>
      <Button onPress={() => print()}>{words.print}</Button>
      <Button kind="primary" onPress={onKept}>
        {words.kept}
      </Button>
    </main>
  )
}
