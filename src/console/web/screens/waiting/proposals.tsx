/** Agents' proposals: what each asks for, rejected or accepted. */
import { useState } from 'react'
import { useMay } from '../../frame/manages.ts'
import { Button } from '../../parts/button.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Acceptance } from './acceptance.tsx'
import { DECIDED, type ProposedChange } from './waiting.ts'

const words = texts.waiting

type Props = { workspaceId: string; proposals: readonly ProposedChange[] }

export function Proposals({ workspaceId, proposals }: Props) {
  if (proposals.length === 0) return null
  return (
    <section className="stack-tight" aria-labelledby="proposals">
      <h3 id="proposals">{words.proposals}</h3>
      <ul className="plain-list stack">
        {proposals.map((proposal) => (
          <ProposalCard key={proposal.id} workspaceId={workspaceId} proposal={proposal} />
        ))}
      </ul>
    </section>
  )
}

function ProposalCard({
  workspaceId,
  proposal,
}: {
  workspaceId: string
  proposal: ProposedChange
}) {
  const { id, agent, reason, hosts, secrets } = proposal
  const [isOpen, setOpen] = useState(false)
  const decides = useMay(workspaceId, 'approval.decide')
  const reject = useCommand('proposals.reject', { changes: DECIDED })
  return (
    <li className="card stack-tight">
      <p>{words.proposes(agent)}</p>
      <dl className="waiting-facts">
        <Names label={words.reason} names={[reason]} />
        <Names label={words.hosts} names={hosts} />
        <Names
          label={words.newSecrets}
          names={secrets.map(({ key, description }) => words.described(key, description))}
        />
      </dl>
      {decides && !isOpen ? (
        <div className="row">
          <Button kind="primary" aria-label={words.accepting(agent)} onPress={() => setOpen(true)}>
            {words.accept}
          </Button>
          <Button
            aria-label={words.rejecting(agent)}
            isPending={reject.isPending}
            onPress={() =>
              reject.mutate({ workspaceId, id }, { onSuccess: () => say(words.rejected) })
            }
          >
            {words.reject}
          </Button>
        </div>
      ) : null}
      {reject.error ? <FailureNote error={reject.error} /> : null}
      {isOpen ? (
        <Acceptance workspaceId={workspaceId} proposal={proposal} onClose={() => setOpen(false)} />
      ) : null}
    </li>
  )
}

function Names({ label, names }: { label: string; names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <ul className="plain-list">
          {names.map((name) => (
            <li key={name}>{name}</li>
          ))}
        </ul>
      </dd>
    </div>
  )
}
