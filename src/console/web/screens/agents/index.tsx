/** Agents with their tokens, and those of workloads: what each may do, and the way to end it. */
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useIsMember, useManages } from '../../frame/manages.ts'
import { NEW } from '../../frame/navigation.ts'
import { Button } from '../../parts/button.tsx'
import { ConfirmButton } from '../../parts/overlays/confirm.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { NotFound } from '../../parts/page/not_found.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import type { For, MadeToken } from './draft.ts'
import { NewTokenDialog } from './new_token.tsx'
import { Tokens } from './tokens.tsx'
import { Wizard } from './wizard.tsx'

const route = getRouteApi('/w/$workspaceId/agents')
const words = texts.agents

export function Agents() {
  const { workspaceId } = route.useParams()
  const manages = useManages(workspaceId)
  const isMember = useIsMember(workspaceId)
  if (manages === null) return <Loading />
  if (isMember === false) return <NotFound />
  return (
    <section className="stack">
      <h1>{words.title}</h1>
      <p className="soft">{words.intro}</p>
      {manages ? <Managed workspaceId={workspaceId} /> : <Banner>{words.onlyAdmins}</Banner>}
    </section>
  )
}

function Managed({ workspaceId }: { workspaceId: string }) {
  const { data: agents, error } = useAsk('agents.list', { workspaceId })
  const { data: projects } = useAsk('workspaces.projects', { workspaceId })
  const { make: maker } = route.useSearch()
  const navigate = route.useNavigate()
  const [made, setMade] = useState<MadeToken | null>(null)
  if (error) return <FailureNote error={error} />
  if (!agents || !projects) return <Loading />
  if (made) return <NewTokenDialog made={made} done={() => setMade(null)} />
  const given = givenBy(maker, agents)
  const toList = () => void navigate({ search: {} })
  if (given) {
    return (
      <Wizard
        key={maker}
        workspaceId={workspaceId}
        projects={projects}
        given={given}
        onMade={(token) => {
          setMade(token)
          toList()
        }}
        onCancel={toList}
      />
    )
  }
  const makeFor = (make: string) => void navigate({ search: { make } })
  const make = (
    <Button kind="primary" onPress={() => makeFor(NEW)}>
      {words.make}
    </Button>
  )
  return (
    <>
      {agents.length > 0 ? <div>{make}</div> : null}
      {agents.length === 0 ? (
        <EmptyState title={words.none} command={words.noneCommand}>
          <p>{words.noneHelp}</p>
          <div>{make}</div>
        </EmptyState>
      ) : null}
      {agents.map((agent) => (
        <Agent
          key={agent.id}
          workspaceId={workspaceId}
          agent={agent}
          onMake={() => makeFor(agent.id)}
        />
      ))}
      {projects.length > 0 ? <h2 className="card-title">{words.workloads}</h2> : null}
      {projects.map(({ id, name }) => (
        <section key={id} className="card stack" aria-label={words.workloadsOf(name)}>
          <h3>{name}</h3>
          <Tokens
            owner={{ workspaceId, projectId: id }}
            name={name}
            project={name}
            none={words.noWorkloads}
          />
        </section>
      ))}
    </>
  )
}

/** Whom a token is being made for, by the address. */
function givenBy(maker: string | undefined, agents: readonly Agent[]): For | null {
  if (maker === NEW) return { kind: 'new' }
  const agent = agents.find(({ id }) => id === maker)
  return agent ? { kind: 'agent', agent } : null
}

type Agent = Extract<For, { kind: 'agent' }>['agent']

function Agent({
  workspaceId,
  agent,
  onMake,
}: {
  workspaceId: string
  agent: Agent
  onMake(): void
}) {
  const remove = useCommand('agents.remove', { changes: ['agents.list'] })
  const { id, name, projectId } = agent
  const project = projectId === null ? null : (agent.project ?? words.deleted)
  return (
    <section className="card stack" aria-label={name}>
      <div className="card-head">
        <h2 className="card-title">{name}</h2>
        <span className="soft">{project ?? words.whole}</span>
        <span className="space" />
        <Button onPress={onMake} aria-label={words.makeFor(name)}>
          {words.make}
        </Button>
        <ConfirmButton
          verb={words.remove}
          title={words.removeNamed(name)}
          onConfirm={async () => {
            const { isUnsigned } = await remove.mutateAsync({ workspaceId, agentId: id })
            say(words.removed(name))
            if (isUnsigned) say(words.unsigned)
          }}
        >
          <p>{words.removing(name)}</p>
          <p>{words.noUndo}</p>
        </ConfirmButton>
      </div>
      <Tokens
        owner={{ workspaceId, agentId: id }}
        name={name}
        project={project}
        none={words.noTokens}
      />
    </section>
  )
}
