/** Whole screens: a title, a grid and an inspector. */
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { DataGrid, type GridColumn } from '../parts/grid/grid.tsx'
import { Inspector } from '../parts/page/inspector.tsx'
import { Screen } from '../parts/page/screen.tsx'
import { InspectorSection } from '../parts/page/section.tsx'
import { Status } from '../parts/show/status.tsx'
import { UrlText } from '../parts/show/url.tsx'
import { Specimen, SpecimenGroup } from './specimen.tsx'

type Call = { id: string; agent: string; path: string; status: string }

const CALLS: Call[] = ['charges', 'refunds', 'customers'].map((path, at) => ({
  id: String(at),
  agent: 'deploy-bot',
  path: `/v1/${path}`,
  status: '200',
}))

const COLUMNS: readonly GridColumn<Call>[] = [
  { id: 'agent', header: 'Agent', width: '120px', cell: ({ agent }) => agent, isRowHeader: true },
  {
    id: 'request',
    header: 'Request',
    width: 'minmax(0,1fr)',
    cell: ({ path }) => <UrlText method="GET" host="api.stripe.com" path={path} />,
  },
  {
    id: 'result',
    header: 'Result',
    width: '100px',
    cell: ({ status }) => <Status tone="green">{status}</Status>,
  },
]

export function PagePatterns() {
  return (
    <SpecimenGroup title="Patterns">
      <Specimen
        of={[
          'page/screen',
          'page/inspector',
          'grid/grid',
          'grid/header',
          'grid/opens',
          'grid/row',
          'grid/selection',
        ]}
        rule="Title bar 52 px, rows 38 px, inspector 372 px. Nothing moves that someone aims at."
        isWide
      >
        <Calls />
      </Specimen>
    </SpecimenGroup>
  )
}

function Calls() {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [open, setOpen] = useState<Call | null>(null)
  return (
    <div className="flex h-75 overflow-hidden rounded-card border border-line">
      <Screen
        title="Live requests"
        primary={
          <Button kind="primary" icon={Plus}>
            New agent
          </Button>
        }
        inspector={
          open ? (
            <Inspector title={open.path} isMono onClose={() => setOpen(null)}>
              <InspectorSection title="Agent">{open.agent}</InspectorSection>
            </Inspector>
          ) : null
        }
      >
        <DataGrid
          label="Calls"
          columns={COLUMNS}
          rows={CALLS}
          idOf={({ id }) => id}
          openId={open?.id}
          onOpen={setOpen}
          selection={{ selected, onChange: setSelected, nameOf: ({ path }) => path }}
        />
      </Screen>
    </div>
  )
}
