/** The grid of names by environments; on a phone, the rows of one environment. */
import { memo, useMemo } from 'react'
import { Segmented } from '../../parts/fields/segmented.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { DataGrid, type GridColumn, type GridSelection } from '../../parts/grid/grid.tsx'
import { EnvironmentLabel } from '../../parts/show/environment_label.tsx'
import { texts } from '../../texts/index.ts'
import { MatrixCell } from './cell.tsx'
import type { Edits } from './edits.ts'
import { SecretPhoneRow } from './phone_row.tsx'
import { type Matrix, type MatrixRow, useEnvironment, useGo, useParameter } from './place.ts'

const words = texts.matrix

type Props = {
  matrix: Matrix
  rows: readonly MatrixRow[]
  /** Null if the person may only read. */
  edits: Edits | null
  selection: GridSelection<MatrixRow> | undefined
  empty: React.ReactNode
}

export const keyOfRow = ({ key }: MatrixRow) => key

/** A letter typed into the filter renders it once, with the rows that match. */
export const MatrixGrid = memo(function MatrixGrid(props: Props) {
  const { matrix, rows, edits, selection, empty } = props
  const go = useGo()
  const { environments } = matrix
  const environment = useEnvironment(matrix)
  const key = useParameter('key')
  const columns = useColumns(matrix, edits)
  return (
    <>
      <PhoneEnvironments environments={environments} environment={environment} />
      <DataGrid
        label={words.label}
        columns={columns}
        rows={rows}
        idOf={keyOfRow}
        startId={key}
        onOpen={(row) => go({ key: row.key, environment, pane: undefined })}
        selection={selection}
        phone={(row) => (
          <SecretPhoneRow {...{ row, environment, environments }} canAdd={edits !== null} />
        )}
        empty={empty}
      />
    </>
  )
})

/** A segmented control has room for four. */
const SEGMENTS = 4

function PhoneEnvironments({
  environments,
  environment,
}: {
  environments: readonly string[]
  environment: string
}) {
  const go = useGo()
  const choose = (chosen: string) => go({ environment: chosen }, true)
  const chosen = { label: words.environments, value: environment, onChange: choose }
  return (
    <div className="shrink-0 px-4 pb-1 desk:hidden">
      {environments.length > SEGMENTS ? (
        <Select {...chosen} options={environments.map((id) => ({ id, label: id }))} />
      ) : (
        <Segmented
          {...chosen}
          options={environments.map((id) => ({ id, label: words.phoneEnvironment(id), env: id }))}
        />
      )}
    </div>
  )
}

const ENVIRONMENT_WIDTH = 140
const NAME_WIDTH = 208
/** The sidebar, the inspector, the column of checkboxes and the scroll bar. */
const BESIDE_WIDTH = 224 + 372 + 44 + 12
const CHARACTER_WIDTH = 7.3

/**
 * As wide as the longest name, if that leaves room for all environments and the inspector. It does not depend on whether
 * the inspector is open, so that nothing moves when it opens.
 */
function nameWidth({ rows, environments }: Matrix): string {
  const longest = rows.reduce((most, { key }) => Math.max(most, key.length), 0)
  const wanted = Math.max(NAME_WIDTH, Math.ceil(longest * CHARACTER_WIDTH) + 20)
  const others = BESIDE_WIDTH + environments.length * ENVIRONMENT_WIDTH
  return `clamp(${NAME_WIDTH}px, calc(100vw - ${others}px), ${wanted}px)`
}

function useColumns(matrix: Matrix, edits: Edits | null) {
  const chosen = useParameter('key')
  const where = useEnvironment(matrix)
  const { environments } = matrix
  const width = nameWidth(matrix)
  return useMemo(
    (): GridColumn<MatrixRow>[] => [
      {
        id: 'key',
        header: words.name,
        width,
        isRowHeader: true,
        sortBy: keyOfRow,
        cell: ({ key }) => (
          <span className="font-mono text-mono" title={key}>
            {key}
          </span>
        ),
      },
      ...environments.map(
        (environment): GridColumn<MatrixRow> => ({
          id: `in ${environment}`,
          header: <EnvironmentLabel name={environment} />,
          width: `${ENVIRONMENT_WIDTH}px`,
          sortBy: ({ cells }) => cells[environment]?.updatedAt ?? '',
          cell: (row) => (
            <MatrixCell
              row={row}
              environment={environment}
              environments={environments}
              isChosen={row.key === chosen && environment === where}
              edits={edits}
            />
          ),
        }),
      ),
    ],
    [environments, width, chosen, where, edits],
  )
}
