/** The screen of one project. */
import { KeyRound, Plus } from 'lucide-react'
import { type ReactNode, useDeferredValue, useEffect, useMemo, useState } from 'react'
import { AskError } from '../../keys/ask.ts'
import { useMay } from '../../manages.ts'
import { Button } from '../../parts/button.tsx'
import { IconButton } from '../../parts/icon_button.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote, ScreenFailure } from '../../parts/page/failure.tsx'
import { Screen } from '../../parts/page/screen.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { Status } from '../../parts/show/status.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { useCommands } from './commands.ts'
import { useEdits } from './edits.ts'
import { countFilters, filterRows } from './filters.ts'
import { SecretInspector } from './inspector/index.tsx'
import { keyOfRow, MatrixGrid } from './matrix.tsx'
import {
  type Matrix,
  type Project,
  useEnvironment,
  useGo,
  useMayHere,
  useParameter,
} from './place.ts'
import { SelectionBar } from './selection_bar.tsx'
import { Sheets } from './sheets/index.tsx'
import { MatrixShortcuts } from './shortcuts.ts'
import { ProjectSwitcher, type Projects } from './switcher.tsx'
import { SecretsToolbar, useFilterId, useFind } from './toolbar.tsx'
import { DropArea } from './transfers/drop_area.tsx'
import { useUnused } from './unused.ts'

const words = texts.matrix

type Props = Project & { projects: Projects }

/** Until the secrets are read. */
const NONE: Matrix = { environments: [], faults: [], rows: [] }

/** The top bar stays as it is while the secrets load, so that an open menu stays open. */
export function ProjectScreen({ workspaceId, projectId, projects }: Props) {
  const place = useMemo(() => ({ workspaceId, projectId }), [workspaceId, projectId])
  const { data, error } = useAsk('secrets.matrix', place)
  const frame = useFrame(place, projects)
  const project = projects.find(({ id }) => id === projectId)?.name ?? ''
  return (
    <MatrixScreen
      {...{ place, project, frame }}
      matrix={data ?? NONE}
      unread={data ? null : <Unread error={error} />}
    />
  )
}

function Unread({ error }: { error: unknown }) {
  if (error) {
    return <ScreenFailure error={error} />
  }
  return (
    <>
      <div className="h-8 shrink-0 border-b border-line" />
      <SkeletonRows count={15} />
    </>
  )
}

/** The top bar. */
function useFrame({ workspaceId, projectId }: Project, projects: Projects) {
  const { writing, more } = useCommands()
  const writes = useMay(workspaceId, 'secret.write')
  const [add, ...secondary] = writing
  return {
    title: words.title,
    crumb: words.title,
    switcher: <ProjectSwitcher projects={projects} chosen={projectId} />,
    state: writes === false ? <Status tone="neutral">{words.readOnly}</Status> : undefined,
    primary: add ? (
      <>
        <span className="contents phone:hidden">
          <Button kind="primary" icon={Plus} aria-keyshortcuts="N" onPress={add.act}>
            {add.label}
          </Button>
        </span>
        <span className="contents desk:hidden">
          <IconButton kind="primary" icon={Plus} label={add.label} onPress={add.act} />
        </span>
      </>
    ) : undefined,
    secondary,
    more,
  }
}

type MatrixProps = {
  place: Project
  project: string
  matrix: Matrix
  /** In place of the matrix while it is not read. */
  unread: ReactNode
  frame: ReturnType<typeof useFrame>
}

function MatrixScreen({ place, project, matrix, unread, frame }: MatrixProps) {
  const pane = useParameter('pane')
  const writes = useMayHere('secret.write')
  const all = useEdits(place, matrix)
  const edits = writes ? all : null
  const { rows, counts, find, setFind } = useRows(place, matrix)
  const { keys, selection, clear } = useSelection(matrix)
  const [file, setFile] = useState<File | null>(null)
  useEffect(() => {
    if (pane !== 'import') setFile(null)
  }, [pane])
  const hasRows = matrix.rows.length > 0
  const empty = useMemo(() => <NoMatches onShowAll={() => setFind('')} />, [setFind])
  const toolbar = hasRows ? (
    <SecretsToolbar find={find} onFind={setFind} counts={counts} />
  ) : undefined
  return (
    <DropArea isActive={writes} onFile={setFile}>
      <Screen
        {...frame}
        toolbar={unread ? <span className="h-8" /> : toolbar}
        inspector={<Inspected place={place} matrix={matrix} />}
      >
        <div
          className={`relative flex min-h-0 flex-1 flex-col ${keys.length > 0 ? '[&_[role=grid]]:pb-18' : ''}`}
        >
          <Faults faults={matrix.faults} />
          {unread}
          {hasRows ? (
            <MatrixGrid
              matrix={matrix}
              rows={rows}
              edits={edits}
              selection={writes ? selection : undefined}
              empty={empty}
            />
          ) : null}
          {hasRows || unread ? null : <NoSecrets />}
          <SelectionBar count={keys.length} clear={clear} />
        </div>
      </Screen>
      <MatrixShortcuts {...{ place, matrix, edits }} />
      {unread ? null : <Sheets {...{ place, project, matrix, keys, file, clear }} />}
    </DropArea>
  )
}

/** The secret of the address. */
function Inspected({ place, matrix }: Pick<MatrixProps, 'place' | 'matrix'>) {
  const key = useParameter('key')
  const environment = useEnvironment(matrix)
  if (key === undefined || environment === '') return null
  return (
    <SecretInspector
      key={`${key} ${environment}`}
      place={place}
      matrix={matrix}
      name={key}
      environment={environment}
    />
  )
}

function useRows(place: Project, matrix: Matrix) {
  const [find, setFind] = useFind()
  const id = useFilterId()
  const sought = useDeferredValue(find)
  const unused = useUnused(place, matrix)
  const context = useMemo(
    () => ({ environments: matrix.environments.length, unused }),
    [matrix, unused],
  )
  const counts = useMemo(() => countFilters(matrix.rows, context), [matrix, context])
  const rows = useMemo(
    () => filterRows(matrix.rows, context, { id, find: sought }),
    [matrix, context, id, sought],
  )
  return { rows, counts, find, setFind }
}

function useSelection(matrix: Matrix) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const keys = useMemo(() => {
    const present = new Set(matrix.rows.map(keyOfRow))
    return [...selected].filter((key) => present.has(key))
  }, [matrix, selected])
  const selection = useMemo(
    () => ({ selected, onChange: setSelected, nameOf: keyOfRow }),
    [selected],
  )
  return { keys, selection, clear: () => setSelected(new Set()) }
}

function Faults({ faults }: Pick<Matrix, 'faults'>): ReactNode {
  return faults.map(({ environment, fault }) => (
    <div key={environment} className="flex shrink-0 flex-col gap-2 px-5 py-3">
      <h2 className="font-medium">{words.notVerified(environment)}</h2>
      <FailureNote error={new AskError(fault)} />
    </div>
  ))
}

function NoSecrets() {
  const go = useGo()
  const writes = useMayHere('secret.write')
  if (!writes) return <EmptyState icon={KeyRound} title={words.noneYours} />
  return (
    <EmptyState
      icon={KeyRound}
      title={words.none}
      command="cloakroom secrets push .env"
      action={<Button onPress={() => go({ pane: 'import' })}>{words.import}</Button>}
    />
  )
}

function NoMatches({ onShowAll }: { onShowAll(): void }) {
  const go = useGo()
  return (
    <EmptyState
      title={words.noMatches}
      action={
        <Button
          onPress={() => {
            onShowAll()
            go({ show: undefined, find: undefined }, true)
          }}
        >
          {words.showAll}
        </Button>
      }
    />
  )
}
