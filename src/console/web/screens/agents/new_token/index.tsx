/** A new token in a sheet: its terms as one sentence, then the token itself, which is shown once. */
import { useState } from 'react'
import { NEW } from '../../../frame/navigation.ts'
import { ask } from '../../../keys/ask.ts'
import { Button } from '../../../parts/button.tsx'
import { LinkButton } from '../../../parts/link_button.tsx'
import { Sheet } from '../../../parts/overlays/sheet.tsx'
import { EmptyState } from '../../../parts/page/empty_state.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { SkeletonRows } from '../../../parts/page/skeleton.tsx'
import { useAsk } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import { type AllAgents, agentsRoute } from '../place.ts'
import { CreatedToken } from './created.tsx'
import type { MadeToken, TokenHolder } from './draft.ts'
import { TokenForm } from './order.tsx'

const words = texts.agents

type Props = { workspaceId: string; agents: AllAgents['agents']; make: string }

export function NewTokenSheet({ workspaceId, agents, make }: Props) {
  const { show } = agentsRoute.useSearch()
  const navigate = agentsRoute.useNavigate()
  const { data: projects, error } = useAsk('workspaces.projects', { workspaceId })
  const [made, setMade] = useState<MadeToken | null>(null)
  const holder = holderOf(make, agents)
  if (!holder) return null
  const close = () => {
    if (made) void ask('agents.forgetToken', { id: made.id })
    void navigate({ search: show === undefined ? {} : { show } })
  }
  const title = holder.kind === 'agent' ? words.makeFor(holder.agent.name) : words.make
  return (
    <Sheet
      title={made ? texts.newToken.title : title}
      isOpen
      onClose={close}
      width={560}
      needsAnswer={made !== null}
      footer={made ? <Done onPress={close} /> : null}
    >
      {error ? <FailureNote error={error} /> : null}
      {made ? <CreatedToken made={made} /> : null}
      {!made && projects ? (
        projects.length === 0 ? (
          <NoProject workspaceId={workspaceId} />
        ) : (
          <TokenForm {...{ workspaceId, projects, holder }} onMade={setMade} onCancel={close} />
        )
      ) : null}
      {projects || error ? null : <SkeletonRows count={4} />}
    </Sheet>
  )
}

function Done({ onPress }: { onPress(): void }) {
  return (
    <span className="ml-auto">
      <Button kind="primary" onPress={onPress}>
        {texts.newToken.close}
      </Button>
    </span>
  )
}

/** The owner that the address names. */
function holderOf(make: string, agents: AllAgents['agents']): TokenHolder | null {
  if (make === NEW) return { kind: 'new' }
  const agent = agents.find(({ id }) => id === make)
  return agent ? { kind: 'agent', agent } : null
}

function NoProject({ workspaceId }: { workspaceId: string }) {
  return (
    <EmptyState
      title={words.noProject}
      command={words.noProjectCommand}
      action={
        <LinkButton
          kind="primary"
          to="/w/$workspaceId/secrets"
          params={{ workspaceId }}
          search={{ pane: 'project' }}
        >
          {words.createProject}
        </LinkButton>
      }
    />
  )
}
