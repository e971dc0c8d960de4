/** The secrets of a project by environment: what is missing, differs or is old, and what changes it. */
import { useMemo, useState } from 'react'
import { AskError } from '../../keys/ask.ts'
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { usePaletteCommands } from '../../parts/overlays/command_palette.tsx'
import { Menu } from '../../parts/overlays/menu.tsx'
import { EmptyState } from '../../parts/states/empty_state.tsx'
import { FailureNote } from '../../parts/states/failure.tsx'
import { Loading } from '../../parts/states/loading.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Bulk } from './bulk.tsx'
import { MatrixTable } from './matrix.tsx'
import { NewProject } from './new_project.tsx'
import { Panes } from './panes.tsx'
import { type Matrix, type Project, route, useGo } from './place.ts'

const words = texts.secrets

export function Secrets() {
  const { workspaceId } = route.useParams()
  const { project } = route.useSearch()
  const { data: projects, error } = useAsk('workspaces.projects', { workspaceId })
  if (error) return <FailureNote error={error} />
  if (!projects) return <Loading />
  const chosen = projects.find(({ id }) => id === project) ?? projects[0]
  return (
    <section className="stack">
      <h1>{words.title}</h1>
      {chosen ? (
        <OfProject
          key={chosen.id}
          place={{ workspaceId, projectId: chosen.id }}
          projects={projects}
        />
      ) : (
        <EmptyState title={words.noProjects} command="cloakroom projects create billing">
          <p>{words.noProjectsHelp}</p>
          <NewProject workspaceId={workspaceId} />
        </EmptyState>
      )}
    </section>
  )
}

type OfProjectProps = { place: Project; projects: readonly { id: string; name: string }[] }

function OfProject({ place, projects }: OfProjectProps) {
  const go = useGo()
  const { data, error } = useAsk('secrets.matrix', place)
  const [first, second, ...others] = usePaneCommands()
  return (
    <>
      <div className="row">
        <Select
          label={words.project}
          options={projects.map(({ id, name }) => ({ id, label: name }))}
          value={place.projectId}
          onChange={(project) => go({ project, key: undefined, pane: undefined })}
        />
        {first ? (
          <Button kind="primary" onPress={first.act}>
            {first.label}
          </Button>
        ) : null}
        {second ? <Button onPress={second.act}>{second.label}</Button> : null}
        <Menu label={words.more} choices={others} />
      </div>
      {error ? <FailureNote error={error} /> : null}
      {data?.faults.map(({ environment, fault }) => (
        <div key={environment}>
          <h2>{words.notVerified(environment)}</h2>
          <FailureNote error={new AskError(fault)} />
        </div>
      ))}
      {data ? <Shown place={place} matrix={data} /> : error ? null : <Loading />}
    </>
  )
}

const panes = {
  new: words.add,
  import: words.import,
  compare: words.compare,
  deleted: words.deleted,
  environment: words.newEnvironment,
  project: words.newProject,
}

/** What can be opened beside the matrix, by its buttons and from the palette. */
function usePaneCommands() {
  const go = useGo()
  const commands = useMemo(
    () =>
      Object.entries(panes).map(([pane, label]) => ({
        id: pane,
        label,
        act: () => go({ pane, key: undefined }),
      })),
    [go],
  )
  usePaletteCommands(commands)
  return commands
}

function Shown({ place, matrix }: { place: Project; matrix: Matrix }) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const keys = useMemo(() => {
    const there = new Set(matrix.rows.map(({ key }) => key))
    return [...selected].filter((key) => there.has(key))
  }, [matrix, selected])
  return (
    <div className="secrets-panes">
      <div className="stack">
        {matrix.rows.length === 0 ? (
          <EmptyState title={words.none} command="cloakroom secrets push .env">
            <p>{words.noneHelp}</p>
          </EmptyState>
        ) : (
          <>
            <Bulk place={place} matrix={matrix} keys={keys} clear={() => setSelected(new Set())} />
            <MatrixTable matrix={matrix} selected={selected} onSelect={setSelected} />
          </>
        )}
      </div>
      <Panes place={place} matrix={matrix} keys={keys} />
    </div>
  )
}
