/** An agent's proposal: its hosts and secrets, the exact change, and the fields for secrets that are missing. */
import { Lightbulb } from 'lucide-react'
import { useState } from 'react'
import { useManages, useMay } from '../../manages.ts'
import { Button } from '../../parts/button.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Facts } from '../../parts/page/facts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Inspector } from '../../parts/page/inspector.tsx'
import { InspectorSection } from '../../parts/page/section.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { Status } from '../../parts/show/status.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { DECIDED, type Proposal, type WaitingItem } from '../../waiting.ts'
import { Acceptance, type Stored } from './acceptance.tsx'
import { IgnoreButton, SignButton } from './sign.tsx'

const words = texts.waiting

const FORM = 'acceptance'
const CHANGED = [...DECIDED, ...(['proposals.hosts', 'allowlist.list', 'secrets.matrix'] as const)]

type Props = { workspaceId: string; proposal: Proposal; item: WaitingItem; onClose(): void }

export function ProposalInspector({ workspaceId, proposal, item, onClose }: Props) {
  const { id, agent, reason, hosts } = proposal
  const { data: missing, error } = useAsk('proposals.hosts', { workspaceId, hosts }, 0)
  const { decides, needsAdmin, mayAccept } = useRights(workspaceId, missing)
  const accept = useCommand('proposals.accept', { changes: CHANGED })
  const [isAccepted, setAccepted] = useState(false)
  const submit = (stored: Stored | null) =>
    accept.mutate(
      { workspaceId, proposal, hosts: missing ?? [], stored },
      { onSuccess: () => setAccepted(true) },
    )
  const signing = mayAccept ? (
    <SignButton label={words.signAndAccept} isPending={accept.isPending} onSign={requestSubmit} />
  ) : null
  return (
    <Inspector
      title={words.proposes(agent)}
      status={
        <Status tone="amber" icon={Lightbulb}>
          {words.proposal}
        </Status>
      }
      onClose={onClose}
      footer={
        isAccepted ? (
          <Button onPress={onClose}>{texts.common.close}</Button>
        ) : (
          <>
            {signing}
            {decides ? <Reject {...{ workspaceId, id, onClose }} /> : null}
            <IgnoreButton item={item} onClose={onClose} />
          </>
        )
      }
    >
      <div className="px-4 pb-3.5">
        <Facts rows={[[words.reason, reason]]} />
      </div>
      {isAccepted ? <Accepted /> : null}
      {error ? <FailureNote error={error} /> : null}
      {missing ? (
        <Acceptance
          {...{ workspaceId, proposal, missing }}
          isOpen={mayAccept && !isAccepted}
          id={FORM}
          onSubmit={submit}
        />
      ) : (
        <SkeletonRows count={3} />
      )}
      {decides === false ? <Note text={words.onlyWriters} /> : null}
      {needsAdmin ? <Note text={words.askAdmin} /> : null}
      {accept.error && !isAccepted ? <FailureNote error={accept.error} /> : null}
    </Inspector>
  )
}

/** A host that is not allowed yet needs an owner or admin. */
function useRights(workspaceId: string, missing: readonly string[] | undefined) {
  const decides = useMay(workspaceId, 'approval.decide')
  const manages = useManages(workspaceId)
  const needsAdmin = manages === false && missing !== undefined && missing.length > 0
  const mayAccept = decides === true && missing !== undefined && !needsAdmin
  return { decides, needsAdmin, mayAccept }
}

function Accepted() {
  return (
    <p role="status" className="mx-4 mb-3.5 rounded-control bg-green-soft px-3 py-2.5 font-medium">
      {words.accepted}
    </p>
  )
}

function requestSubmit(): void {
  const form = document.getElementById(FORM)
  if (form instanceof HTMLFormElement) form.requestSubmit()
}

function Note({ text }: { text: string }) {
  return (
    <InspectorSection title={words.decision}>
      <p>{text}</p>
    </InspectorSection>
  )
}

function Reject({
  workspaceId,
  id,
  onClose,
}: {
  workspaceId: string
  id: string
  onClose(): void
}) {
  const reject = useCommand('proposals.reject', { changes: DECIDED })
  const act = () =>
    reject.mutate(
      { workspaceId, id },
      {
        onSuccess: () => {
          say(words.rejected)
          onClose()
        },
      },
    )
  return (
    <>
      <Button isPending={reject.isPending} onPress={act}>
        {words.reject}
      </Button>
      {reject.error ? <FailureNote error={reject.error} /> : null}
    </>
  )
}
