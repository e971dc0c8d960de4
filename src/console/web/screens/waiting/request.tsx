/** One request to use held secrets: exactly what will be sent, who asks, and the decision. */
import { useState } from 'react'
import { useManages, useMay } from '../../frame/manages.ts'
import { Button } from '../../parts/button.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { timeOf } from '../../parts/show/moments.ts'
import { useCommand, useRepeatedAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { CallDetails } from './call_details.tsx'
import { callAddress, DECIDED, type Request } from './waiting.ts'
import { canHaveWindow, WindowChoice } from './window.tsx'

const words = texts.waiting

const EVERY_MS = 2_000
const MUTE_SECONDS = 3_600

type Props = { workspaceId: string; request: Request; onAllowed(): void }

export function RequestCard({ workspaceId, request, onAllowed }: Props) {
  const [allowedFor, setAllowedFor] = useState<number | 'once' | null>(null)
  const call = `${request.method} ${callAddress(request)}`
  const allowed = (length: number | 'once') => {
    setAllowedFor(length)
    onAllowed()
  }
  return (
    <li className="card stack-tight" aria-label={call}>
      <p>{words.asks(request.agent, request.token)}</p>
      <CallDetails request={request} />
      {allowedFor === null ? (
        <Decision workspaceId={workspaceId} request={request} call={call} onAllowed={allowed} />
      ) : (
        <Outcome workspaceId={workspaceId} id={request.id} allowedFor={allowedFor} />
      )}
    </li>
  )
}

type OutcomeProps = { workspaceId: string; id: string; allowedFor: number | 'once' }

function Outcome({ workspaceId, id, allowedFor }: OutcomeProps) {
  const { data = 'released' } = useRepeatedAsk('approvals.status', { workspaceId, id }, EVERY_MS)
  const open = allowedFor === 'once' ? words.next : words.opened(words.length(allowedFor))
  return (
    <p role="status">
      <strong>{data === 'released' ? open : words.ended[data]}</strong>
    </p>
  )
}

type DecisionProps = {
  workspaceId: string
  request: Request
  call: string
  onAllowed(length: number | 'once'): void
}

function Decision({ workspaceId, request, call, onAllowed }: DecisionProps) {
  const decides = useMay(workspaceId, 'approval.decide')
  const manages = useManages(workspaceId)
  const allow = useCommand('approvals.allow', { changes: DECIDED })
  const [isOpen, setOpen] = useState(false)
  const mayAllow = manages === true || !request.needsAdmin
  if (!decides) return <p>{words.onlyWriters}</p>
  const order = { workspaceId, id: request.id, digest: request.digest }
  const release = (window: { prefix: string; seconds: number } | null) =>
    allow.mutate(
      { ...order, window },
      { onSuccess: () => onAllowed(window === null ? 'once' : window.seconds) },
    )
  return (
    <>
      {mayAllow ? null : <p>{words.onlyAdmins}</p>}
      <div className="row">
        {mayAllow && request.isSingle ? (
          <Button
            kind="primary"
            aria-label={words.allowing(call)}
            isPending={allow.isPending}
            onPress={() => release(null)}
          >
            {words.allow}
          </Button>
        ) : null}
        {mayAllow && canHaveWindow(request) ? (
          <Button
            aria-label={words.allowingFor(call)}
            aria-expanded={isOpen}
            onPress={() => setOpen(!isOpen)}
          >
            {words.allowFor}
          </Button>
        ) : null}
        <Deny workspaceId={workspaceId} id={request.id} call={call} />
      </div>
      {isOpen ? (
        <WindowChoice
          request={request}
          isPending={allow.isPending}
          onAllow={release}
          onClose={() => setOpen(false)}
        />
      ) : null}
      {allow.error ? <FailureNote error={allow.error} /> : null}
      <p className="soft small">{words.expires(timeOf(request.expiresAt))}</p>
    </>
  )
}

type DenyProps = { workspaceId: string; id: string; call: string }

function Deny({ workspaceId, id, call }: DenyProps) {
  const deny = useCommand('approvals.deny', { changes: DECIDED })
  const denyFor = (muteSeconds: number | null) => () =>
    deny.mutate(
      { workspaceId, id, muteSeconds },
      { onSuccess: () => say(muteSeconds === null ? words.denied : words.muted) },
    )
  return (
    <>
      <Button aria-label={words.denying(call)} isPending={deny.isPending} onPress={denyFor(null)}>
        {words.deny}
      </Button>
      <Button
        kind="ghost"
        aria-label={words.denyingAndMuting(call)}
        isPending={deny.isPending}
        onPress={denyFor(MUTE_SECONDS)}
      >
        {words.denyAndMute}
      </Button>
      {deny.error ? <FailureNote error={deny.error} /> : null}
    </>
  )
}
