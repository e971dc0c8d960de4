/** Shows the recovery key once, on a page to print. */
import { Download, Printer } from 'lucide-react'
import { useEffect } from 'react'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/page/facts.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { texts } from '../../texts/index.ts'
import { EntryPage } from './entry.tsx'

type Props = { email: string; recoveryKey: string; onKept(): void }

const words = texts.start.kit
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' })

export default function RecoveryKit({ email, recoveryKey, onKept }: Props) {
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [])
  const steps = words.use(`${location.origin}/console/recover`)
  return (
    <EntryPage title={words.title} isWide>
      <p>{words.why}</p>
      <code
        data-recovery-key
        className="rounded-control border border-line-2 bg-canvas p-3 text-center text-[15px] leading-7 wrap-anywhere select-all"
      >
        {recoveryKey}
      </code>
      <Facts
        rows={[
          [words.account, email],
          [words.server, location.origin],
          [words.made, dates.format(new Date())],
        ]}
      />
      <section className="flex flex-col gap-1 text-ink-2">
        <h2 className="font-semibold text-ink">{words.useTitle}</h2>
        <ol className="list-decimal pl-5">
          {steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      </section>
      <div className="flex flex-wrap items-center gap-2 print:hidden">
        <Button icon={Printer} onPress={() => print()}>
          {words.print}
        </Button>
        <Button icon={Download} onPress={() => download(email, recoveryKey)}>
          {words.download}
        </Button>
        <CopyButton text={recoveryKey} name={words.title} isShown={false} isSecret />
        <span className="ml-auto">
          <Button kind="primary" onPress={onKept}>
            {words.kept}
          </Button>
        </span>
      </div>
    </EntryPage>
  )
}

function download(email: string, recoveryKey: string): void {
  const lines = [words.title, '', recoveryKey, '', email, location.origin, '']
  const url = URL.createObjectURL(new Blob([lines.join('\n')], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = url
  link.download = 'cloakroom-recovery-key.txt'
  link.click()
  URL.revokeObjectURL(url)
}
