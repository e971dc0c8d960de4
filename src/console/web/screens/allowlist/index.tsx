/** The hosts that agents may call. */
import { getRouteApi } from '@tanstack/react-router'
import { Globe, Plus } from 'lucide-react'
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import type { Returned } from '../../keys/messages.ts'
import { useManages } from '../../manages.ts'
import { Button } from '../../parts/button.tsx'
import { SearchField } from '../../parts/fields/search_field.tsx'
import { DataGrid } from '../../parts/grid/grid.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { ScreenFailure } from '../../parts/page/failure.tsx'
import { Screen } from '../../parts/page/screen.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { Ago } from '../../parts/show/ago.tsx'
import { Status } from '../../parts/show/status.tsx'
import { useAsk } from '../../queries.ts'
import { useShortcuts } from '../../shortcuts.ts'
import { texts } from '../../texts/index.ts'
import { AddHost } from './add.tsx'
import {
  type AllowedHost,
  actionsOf,
  countCalls,
  type HostUses,
  useHostColumns,
} from './columns.tsx'
import { RemoveHost } from './remove.tsx'

const route = getRouteApi('/w/$workspaceId/allowlist')
const words = texts.allowlist

type Listed = Returned<'allowlist.list'>
const idOfEntry = ({ domain }: AllowedHost) => domain

export function Allowlist() {
  const { workspaceId } = route.useParams()
  const manages = useManages(workspaceId)
  const { data, error } = useAsk('allowlist.list', { workspaceId })
  const [find, setFind] = useState('')
  const [isAdding, setAdding] = useState(false)
  const shortcuts = useMemo(
    () => (manages ? [{ keys: 'n', label: words.add, act: () => setAdding(true) }] : []),
    [manages],
  )
  useShortcuts(shortcuts)
  const add = (kind: 'primary' | 'secondary') => (
    <Button kind={kind} icon={Plus} onPress={() => setAdding(true)}>
      {words.add}
    </Button>
  )
  return (
    <Screen
      title={texts.common.areas.allowlist}
      state={manages === false ? <Status tone="neutral">{words.onlyAdmins}</Status> : null}
      primary={manages ? add('primary') : null}
      toolbar={
        <SearchField
          label={words.find}
          placeholder={words.find}
          value={find}
          onChange={setFind}
          shortcut="/"
        />
      }
    >
      {error ? <ScreenFailure error={error} /> : null}
      {data ? (
        <>
          <Misstated listed={data} />
          <Hosts
            workspaceId={workspaceId}
            entries={data.entries}
            find={find}
            manages={manages === true}
            add={add('secondary')}
          />
        </>
      ) : error ? null : (
        <SkeletonRows count={8} hasHeader />
      )}
      <AddHost workspaceId={workspaceId} isOpen={isAdding} onClose={() => setAdding(false)} />
    </Screen>
  )
}

type HostsProps = {
  workspaceId: string
  entries: readonly AllowedHost[]
  find: string
  manages: boolean
  add: ReactNode
}

function Hosts({ workspaceId, entries, find, manages, add }: HostsProps) {
  const [removed, setRemoved] = useState<string | null>(null)
  const domains = useMemo(() => entries.map(idOfEntry), [entries])
  const { data: uses } = useAsk('allowlist.uses', { workspaceId, domains })
  const columns = useHostColumns(manages, setRemoved, uses ?? null)
  const menuOf = actionsOf(setRemoved)
  const sought = useDeferredValue(find).trim().toLowerCase()
  const rows = useMemo(
    () =>
      entries
        .filter(({ domain }) => domain.includes(sought))
        .sort((one, other) => one.domain.localeCompare(other.domain)),
    [entries, sought],
  )
  const empty =
    entries.length === 0 ? (
      <EmptyState
        icon={Globe}
        title={words.none}
        command={words.noneCommand}
        action={manages ? add : null}
      />
    ) : (
      <EmptyState icon={Globe} title={words.noneFound(find)} />
    )
  return (
    <>
      <DataGrid
        label={words.list}
        columns={columns}
        rows={rows}
        idOf={idOfEntry}
        empty={empty}
        phone={(entry) => (
          <PhoneRow entry={entry} uses={uses ?? null} menu={manages ? menuOf(entry) : null} />
        )}
      />
      {removed === null ? null : (
        <RemoveHost workspaceId={workspaceId} domain={removed} onClose={() => setRemoved(null)} />
      )}
    </>
  )
}

type PhoneRowProps = { entry: AllowedHost; uses: HostUses; menu: ReactNode }

function PhoneRow({ entry, uses, menu }: PhoneRowProps) {
  const use = uses?.get(entry.domain)
  const calls = countCalls(entry, uses)
  return (
    <div className="flex items-center gap-2">
      <div className="min-w-0 flex-1">
        <div className="truncate font-mono text-mono">{entry.domain}</div>
        <div className="truncate text-small text-ink-3">
          {uses ? words.callsInWeek(calls) : null}
          {use ? (
            <>
              {' · '}
              <Ago at={use.last_used_at} />
            </>
          ) : null}
        </div>
      </div>
      {menu}
    </div>
  )
}

/** Rows of the server that differ from what was signed: shown, but never used. */
function Misstated({ listed: { unsigned, leftOut } }: { listed: Listed }) {
  const lists = [
    [words.unsigned, unsigned],
    [words.leftOut, leftOut],
  ] as const
  return lists.map(([said, domains]) =>
    domains.length === 0 ? null : (
      <div key={said} className="mx-5 mt-3 shrink-0 phone:mx-4">
        <Banner kind="warning">
          <p>{said}</p>
          <ul>
            {domains.map((domain) => (
              <li key={domain}>
                <code>{domain}</code>
              </li>
            ))}
          </ul>
        </Banner>
      </div>
    ),
  )
}
