/** The recovery key, once, as a page to print: what opens the account when the password is lost. */
import { useEffect } from 'react'
import { Button } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { texts } from '../../texts/index.ts'

type Props = { email: string; recoveryKey: string; onKept(): void }

const words = texts.start.kit
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' })

export default function RecoveryKit({ email, recoveryKey, onKept }: Props) {
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [])
  const about = [
    [words.account, email],
    [words.server, location.origin],
    [words.made, dates.format(new Date())],
  ] as const
  return (
    <main className="start kit stack">
      <h1>{words.title}</h1>
      <p>{words.why}</p>
      <dl className="kit-about">
        {about.map(([name, value]) => (
          <div key={name}>
            <dt className="soft">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p>
        <code className="kit-key">{recoveryKey}</code>
      </p>
      <h2>{words.useTitle}</h2>
      <ol className="kit-use">
        {words.use(`${location.origin}/console/recover`).map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <div className="row no-print">
        <Button onPress={() => print()}>{words.print}</Button>
        <CopyButton text={recoveryKey} name={words.title} isShown={false} isSecret />
        <Button kind="primary" onPress={onKept}>
          {words.kept}
        </Button>
      </div>
    </main>
  )
}
