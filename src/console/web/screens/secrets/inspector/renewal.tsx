/** The state of a credential that a provider renews, and the way to connect it again. */
import { Plug } from 'lucide-react'
import { Button } from '../../../parts/button.tsx'
import { Facts } from '../../../parts/page/facts.tsx'
import { Proof } from '../../../parts/page/proof.tsx'
import { InspectorSection } from '../../../parts/page/section.tsx'
import { Ago } from '../../../parts/show/ago.tsx'
import { momentOf } from '../../../parts/show/moments.ts'
import { Status } from '../../../parts/show/status.tsx'
import { texts } from '../../../texts/index.ts'
import { type Cell, useGo, useMayHere } from '../place.ts'

const words = texts.inspector.renewal

type Renewal = NonNullable<Cell['renewal']>

const TONES = {
  new: 'neutral',
  valid: 'green',
  expired: 'neutral',
  retrying: 'amber',
  reconnect: 'red',
} as const

export function RenewalBlock({ renewal }: { renewal: Renewal }) {
  const go = useGo()
  const writes = useMayHere('secret.write')
  const { kind, state, failedAt, failedCode } = renewal
  const canConnect = kind === 'oauth2'
  return (
    <InspectorSection title={words.title}>
      <div className="flex flex-col gap-2">
        <p className="flex items-center gap-2">
          <Status tone={TONES[state]}>{words[state]}</Status>
          <span className="text-ink-3">{words.kinds[kind]}</span>
        </p>
        <p className="text-ink-2">{helpOf(renewal)}</p>
        {state === 'reconnect' && !canConnect ? (
          <p className="text-ink-2">{words.replaceHelp}</p>
        ) : null}
        {writes && canConnect && (state === 'reconnect' || state === 'retrying') ? (
          <Button
            size="small"
            kind={state === 'reconnect' ? 'primary' : 'secondary'}
            icon={Plug}
            onPress={() => go({ pane: 'reconnect' })}
          >
            {words.button}
          </Button>
        ) : null}
        {failedAt && failedCode ? (
          <Proof>
            <Facts
              rows={[
                [words.failed, <Ago key="at" at={failedAt} />],
                [texts.parts.code, <code key="code">{failedCode}</code>],
              ]}
            />
          </Proof>
        ) : null}
      </div>
    </InspectorSection>
  )
}

function helpOf({ state, until }: Renewal): string {
  if (state === 'valid' && until !== null) return `${words.until} ${momentOf(until)}.`
  const help = {
    new: words.newHelp,
    valid: '',
    expired: words.expiredHelp,
    retrying: words.retryingHelp,
    reconnect: words.reconnectHelp,
  }
  return help[state]
}
