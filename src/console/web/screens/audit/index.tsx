/** The audit log of a workspace: who did what where, by day. */
import { getRouteApi } from '@tanstack/react-router'
import { ListFilter, Upload } from 'lucide-react'
import { useMemo } from 'react'
import { IconMenu, Menu, type MenuChoice } from '../../parts/overlays/menu.tsx'
import { Screen } from '../../parts/page/screen.tsx'
import { texts } from '../../texts/index.ts'
import { useExport } from './export.ts'
import { filterChoices } from './filter_choices.ts'
import { useFilters } from './filters.ts'
import { groupRecords } from './groups.ts'
import { OpenedEvent } from './inspector.tsx'
import { AuditList } from './list.tsx'
import { useProjectNames } from './projects.ts'
import { useRecords } from './records.ts'
import { SeenBy } from './seen.tsx'
import { useNames } from './summary.ts'
import { SEEN, Toolbar } from './toolbar.tsx'

const route = getRouteApi('/w/$workspaceId/audit')
const words = texts.audit

export function AuditScreen() {
  const { workspaceId } = route.useParams()
  const filtering = useFilters()
  const { filters, change } = filtering
  const read = useRecords(workspaceId, filters)
  const { data } = read
  const records = useMemo(() => data ?? [], [data])
  const groups = useMemo(() => groupRecords(records), [records])
  const projects = useProjectNames(workspaceId)
  const names = useNames(workspaceId)
  const choices = filterChoices(filtering, { names, projects, records })
  const exports = useExport(workspaceId, filters)
  const { open, credential, environment = null } = filters
  const inspected = { workspaceId, onClose: () => change({ open: undefined }) }
  return (
    <Screen
      title={words.title}
      primary={<Actions {...{ choices, exports, filtering }} />}
      toolbar={<Toolbar {...{ workspaceId, names, projects }} filterChoices={choices} />}
      inspector={
        open === SEEN && credential ? (
          <SeenBy {...inspected} secret={credential} environment={environment} />
        ) : open && open !== SEEN ? (
          <OpenedEvent {...inspected} {...{ groups, projects }} id={open} />
        ) : null
      }
    >
      <AuditList {...{ workspaceId, read, groups, projects }} />
    </Screen>
  )
}

type ActionsProps = {
  choices: readonly MenuChoice[]
  exports: readonly MenuChoice[]
  filtering: ReturnType<typeof useFilters>
}

/** On a phone one menu has everything. */
function Actions({ choices, exports, filtering: { filters, change, clear } }: ActionsProps) {
  const isOldest = filters.order === 'oldest'
  const turn = {
    id: 'order',
    label: isOldest ? words.showNewest : words.showOldest,
    act: () => change({ order: isOldest ? undefined : 'oldest' }),
  }
  const others = [
    turn,
    { id: 'export', label: words.export, choices: exports },
    { id: 'clear', label: words.showAll, act: clear },
  ]
  return (
    <>
      <span className="contents phone:hidden">
        <Menu label={words.export} icon={Upload} choices={exports} />
      </span>
      <span className="contents desk:hidden">
        <IconMenu
          icon={ListFilter}
          label={words.filterAndExport}
          choices={[...choices, ...others]}
        />
      </span>
    </>
  )
}
