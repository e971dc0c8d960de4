/** One secret in one environment: its value, policy, versions and access. */
import { useState } from 'react'
import { Inspector } from '../../../parts/page/inspector.tsx'
import { EnvironmentLabel } from '../../../parts/show/environment_label.tsx'
import { Tabs } from '../../../parts/tabs.tsx'
import { texts } from '../../../texts/index.ts'
import { takeCarried } from '../carried.ts'
import {
  type Cell,
  type Matrix,
  type MatrixRow,
  type Project,
  useGo,
  useMayHere,
  useParameter,
} from '../place.ts'
import { Remove } from '../remove.tsx'
import { Copying } from '../sheets/copying.tsx'
import { AccessTab } from './access.tsx'
import { PolicyTab } from './policies.tsx'
import { ValueTab } from './value.tsx'
import { ValueForm } from './value_form.tsx'
import { VersionsTab } from './versions.tsx'

const words = texts.inspector

type Props = { place: Project; matrix: Matrix; name: string; environment: string }

export function SecretInspector({ place, matrix, name, environment }: Props) {
  const go = useGo()
  const writes = useMayHere('secret.write')
  const row = matrix.rows.find(({ key }) => key === name)
  const cell = row?.cells[environment]
  const at = { ...place, environment }
  return (
    <Inspector
      title={name}
      isMono
      badge={<EnvironmentLabel name={environment} />}
      onClose={() => go({ key: undefined })}
      footer={
        cell && writes ? (
          <span className="ml-auto">
            <Remove place={at} keys={[name]} />
          </span>
        ) : undefined
      }
    >
      {row && cell ? (
        <Stored {...{ place, matrix, name, environment, row, cell }} />
      ) : (
        <Missing {...{ place, matrix, name, environment }} />
      )}
    </Inspector>
  )
}

function Stored({ place, matrix, name, environment, row, cell }: Props & Found) {
  const pane = useParameter('pane')
  const at = { ...place, environment }
  const of = { place: at, name, cell }
  return (
    <>
      <Tabs
        label={words.label(name, environment)}
        tabs={[
          { id: 'value', label: words.tabs.value, content: <ValueTab {...of} row={row} /> },
          { id: 'policy', label: words.tabs.policy, content: <PolicyTab {...of} /> },
          {
            id: 'versions',
            label: words.tabs.versions(cell.version),
            content: <VersionsTab place={{ ...at, key: name }} />,
          },
          {
            id: 'access',
            label: words.tabs.access,
            content: <AccessTab place={{ ...at, key: name }} />,
          },
        ]}
      />
      {pane === 'copy-one' ? (
        <Copying place={place} matrix={matrix} keys={[name]} clear={() => undefined} />
      ) : null}
    </>
  )
}

type Found = { row: MatrixRow; cell: Cell }

function Missing({ place, name, environment }: Props) {
  const writes = useMayHere('secret.write')
  const [carried] = useState(() => takeCarried(name, environment))
  const at = { ...place, environment }
  return (
    <div className="flex flex-col gap-3 border-t border-line px-4 py-3">
      <p className="text-ink-2">
        {writes ? words.missing(environment) : words.missingYours(environment)}
      </p>
      {writes ? <ValueForm place={at} name={name} cell={undefined} carried={carried} /> : null}
    </div>
  )
}
