/** Agents with their tokens, and tokens of containers and CI jobs. */
import { Bot, Plus } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { NEW } from '../../frame/navigation.ts'
import { usePaletteCommands } from '../../frame/palette_state.ts'
import { useIsMember, useManages } from '../../manages.ts'
import { Button } from '../../parts/button.tsx'
import { ScreenFailure } from '../../parts/page/failure.tsx'
import { NotFound } from '../../parts/page/not_found.tsx'
import { Screen } from '../../parts/page/screen.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { Status } from '../../parts/show/status.tsx'
import { useAsk } from '../../queries.ts'
import { useShortcuts } from '../../shortcuts.ts'
import { texts } from '../../texts/index.ts'
import { AgentInspector } from './inspector/index.tsx'
import { AgentList } from './list.tsx'
import { NewTokenSheet } from './new_token/index.tsx'
import { agentsRoute, useAgentSearch } from './place.ts'
import { RevokeQuestion } from './revoke.tsx'
import { type AgentRow, agentRows, type Chip, isLive } from './rows.ts'
import { AgentToolbar } from './toolbar.tsx'
import { UsedAgents } from './used_agents.tsx'

const words = texts.agents

export function Agents() {
  const { workspaceId } = agentsRoute.useParams()
  const manages = useManages(workspaceId)
  const isMember = useIsMember(workspaceId)
  if (isMember === false) return <NotFound />
  if (manages) return <ManagedAgents workspaceId={workspaceId} />
  return (
    <Screen
      title={texts.common.areas.agents}
      state={manages === false ? <Status tone="neutral">{words.onlyAdmins}</Status> : null}
    >
      {manages === false ? (
        <UsedAgents workspaceId={workspaceId} />
      ) : (
        <SkeletonRows count={8} hasHeader />
      )}
    </Screen>
  )
}

function ManagedAgents({ workspaceId }: { workspaceId: string }) {
  const { data, error } = useAsk('agents.all', { workspaceId })
  const { show, make } = agentsRoute.useSearch()
  const go = useAgentSearch()
  const [find, setFind] = useState('')
  const [chip, setChip] = useState<Chip>('all')
  const rows = useMemo(() => (data ? agentRows(workspaceId, data) : null), [data, workspaceId])
  const shown = rows?.find(({ id }) => id === show)
  useNewKey()
  const button = (kind: 'primary' | 'secondary') => (
    <Button kind={kind} icon={Plus} onPress={() => go({ make: NEW })}>
      {words.make}
    </Button>
  )
  return (
    <>
      <Screen
        title={texts.common.areas.agents}
        primary={button('primary')}
        toolbar={<AgentToolbar {...{ rows, find, setFind, chip, setChip }} />}
        inspector={
          shown ? <AgentInspector key={shown.id} row={shown} onClose={() => go({})} /> : null
        }
      >
        {error ? <ScreenFailure error={error} /> : null}
        {rows ? (
          <AgentList
            {...{ workspaceId, rows, find, chip, show: shown?.id, button: button('secondary') }}
          />
        ) : error ? null : (
          <SkeletonRows count={8} hasHeader />
        )}
      </Screen>
      {rows ? <RevokeCommands rows={rows} /> : null}
      {data && make !== undefined ? (
        <NewTokenSheet key={make} workspaceId={workspaceId} agents={data.agents} make={make} />
      ) : null}
    </>
  )
}

function useNewKey(): void {
  const navigate = agentsRoute.useNavigate()
  const shortcuts = useMemo(
    () => [{ keys: 'n', label: words.make, act: () => void navigate({ search: { make: NEW } }) }],
    [navigate],
  )
  useShortcuts(shortcuts)
}

/** Revokes any token from the palette. */
function RevokeCommands({ rows }: { rows: readonly AgentRow[] }): ReactNode {
  const [revoked, setRevoked] = useState<Parameters<typeof RevokeQuestion>[0] | null>(null)
  const commands = useMemo(
    () =>
      rows.flatMap(({ name, owner, kind, project, tokens }) =>
        tokens.filter(isLive).map(({ id, label }) => {
          const holder = kind === 'agent' ? name : (project ?? words.whole)
          const question = {
            owner,
            tokenId: id,
            name: holder,
            label,
            onClose: () => setRevoked(null),
          }
          return {
            id: `revoke ${id}`,
            label: words.revokeOf(label, holder),
            icon: Bot,
            act: () => setRevoked(question),
          }
        }),
      ),
    [rows],
  )
  usePaletteCommands(commands)
  return revoked ? <RevokeQuestion {...revoked} /> : null
}
