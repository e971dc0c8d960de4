/** One request to use held secrets: exactly what will be sent, who asks, how far a signature goes, and the decision. */
import { BellOff, EyeOff, ShieldQuestion } from 'lucide-react'
import { useState } from 'react'
import { useManages, useMay } from '../../manages.ts'
import { Button } from '../../parts/button.tsx'
import { IconMenu } from '../../parts/overlays/menu.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Inspector } from '../../parts/page/inspector.tsx'
import { timeOf } from '../../parts/show/moments.ts'
import { Status } from '../../parts/show/status.tsx'
import { useCommand, useRepeatedAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { DECIDED, type WaitingItem, type WaitingRequest } from '../../waiting.ts'
import type { LiveCall } from '../live/stream.ts'
import { CallDetails } from './call_details.tsx'
import { chooseFirstExtent, type Extent, HowFar } from './how_far.tsx'
import { NextCall } from './next_call.tsx'
import { IgnoreButton, ignoreItem, SignButton } from './sign.tsx'

const words = texts.waiting

const EVERY_MS = 2_000
const MUTE_SECONDS = 3_600

type Props = {
  workspaceId: string
  request: WaitingRequest
  item: WaitingItem
  /** All calls until now. */
  calls: readonly LiveCall[]
  onClose(): void
}

/** The signed decision, and the newest call before it. */
type Signed = { extent: Extent; lastId: string }

export function RequestInspector({ workspaceId, request, item, calls, onClose }: Props) {
  const { id, digest, agent, token, secrets } = request
  const { decides, mayAllow } = useRights(workspaceId, request)
  const [extent, setExtent] = useState(() => chooseFirstExtent(request))
  const [signed, setSigned] = useState<Signed | null>(null)
  const allow = useCommand('approvals.allow', { changes: DECIDED })
  const sign = () => {
    const lastId = calls[0]?.id ?? ''
    allow.mutate(
      { workspaceId, id, digest, window: extent },
      { onSuccess: () => setSigned({ extent, lastId }) },
    )
  }
  const signing = mayAllow ? <SignButton isPending={allow.isPending} onSign={sign} /> : null
  return (
    <Inspector
      title={words.allowUse(agent, secrets.map(({ key }) => key).join(', '))}
      status={<NeedsApproval />}
      badge={<span className="text-small">{words.expires(timeOf(request.expiresAt))}</span>}
      onClose={onClose}
      footer={
        signed ? (
          <Button onPress={onClose}>{texts.common.close}</Button>
        ) : (
          <>
            {signing}
            {decides ? <Deny {...{ workspaceId, item, id, onClose }} /> : null}
            {decides === false ? <IgnoreButton item={item} onClose={onClose} /> : null}
          </>
        )
      }
    >
      <p className="px-4 pb-3.5 text-ink-2">{words.asks(agent, token)}</p>
      {signed ? <Outcome {...{ workspaceId, id, calls, signed }} /> : null}
      <CallDetails request={request} />
      {signed ? null : (
        <Open
          {...{ request, decides, mayAllow, extent }}
          error={allow.error}
          onChange={setExtent}
        />
      )}
    </Inspector>
  )
}

function NeedsApproval() {
  return (
    <Status tone="amber" icon={ShieldQuestion}>
      {words.needsApproval}
    </Status>
  )
}

function useRights(workspaceId: string, { needsAdmin }: WaitingRequest) {
  const decides = useMay(workspaceId, 'approval.decide')
  const manages = useManages(workspaceId)
  return { decides, mayAllow: decides === true && (manages === true || !needsAdmin) }
}

type OpenProps = ReturnType<typeof useRights> & {
  request: WaitingRequest
  extent: Extent
  error: unknown
  onChange(extent: Extent): void
}

/** The decisions that the user can make, or the reason why there are none. */
function Open({ request, decides, mayAllow, extent, error, onChange }: OpenProps) {
  return (
    <>
      {mayAllow ? <HowFar request={request} value={extent} onChange={onChange} /> : null}
      {decides === false ? <Note text={words.onlyWriters} /> : null}
      {decides && !mayAllow ? <Note text={words.onlyAdmins} /> : null}
      {error ? <FailureNote error={error} /> : null}
    </>
  )
}

function Note({ text }: { text: string }) {
  return <p className="border-t border-line px-4 py-3 font-medium">{text}</p>
}

type OutcomeProps = Pick<Props, 'workspaceId' | 'calls'> & { id: string; signed: Signed }

/** A status that can't be read changes nothing: the signature was accepted. */
function Outcome({ workspaceId, id, calls, signed: { extent, lastId } }: OutcomeProps) {
  const { data = 'released' } = useRepeatedAsk('approvals.status', { workspaceId, id }, EVERY_MS)
  const open = extent === null ? words.next : words.opened(words.length(extent.seconds))
  const text = data === 'released' || data === 'pending' ? open : words.ended[data]
  const isUsed = data === 'used' || extent !== null
  return (
    <NextCall
      {...{ calls, lastId }}
      {...(text === words.next ? {} : { text })}
      isNext={(call) => isUsed && call.approval_id === id && call.decision !== 'blocked'}
    />
  )
}

type DenyProps = { workspaceId: string; item: WaitingItem; id: string; onClose(): void }

function Deny({ workspaceId, item, id, onClose }: DenyProps) {
  const deny = useCommand('approvals.deny', { changes: DECIDED })
  const denyFor = (muteSeconds: number | null) => () =>
    deny.mutate(
      { workspaceId, id, muteSeconds },
      {
        onSuccess: () => {
          say(muteSeconds === null ? words.denied : words.muted)
          onClose()
        },
      },
    )
  return (
    <>
      <Button isPending={deny.isPending} onPress={denyFor(null)}>
        {words.deny}
      </Button>
      <IconMenu
        choices={[
          { id: 'mute', label: words.denyAndMute, icon: BellOff, act: denyFor(MUTE_SECONDS) },
          { id: 'ignore', label: words.ignore, icon: EyeOff, act: () => ignoreItem(item, onClose) },
        ]}
      />
      {deny.error ? <FailureNote error={deny.error} /> : null}
    </>
  )
}
