/** The secrets of a project by environment: what is missing, differs or is old, and what changes it. */
import { useMemo, useState } from 'react'
import { useMay } from '../../frame/manages.ts'
import { usePaletteCommands } from '../../frame/palette_state.ts'
import { AskError } from '../../keys/ask.ts'
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { Menu } from '../../parts/overlays/menu.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { MatrixTable } from './matrix.tsx'
import { NewProject } from './new_project.tsx'
import { Panes } from './panes.tsx'
import { type Matrix, type Project, secretsRoute, useGo, useMayHere } from './place.ts'
import { Remove } from './remove.tsx'
import { Removing } from './removing.tsx'

const words = texts.secrets

export function Secrets() {
  const { workspaceId } = secretsRoute.useParams()
  const { data: projects, error } = useAsk('workspaces.projects', { workspaceId })
  return (
    <section className="stack">
      <h1>{words.title}</h1>
      {error ? <FailureNote error={error} /> : null}
      {projects ? <Chosen workspaceId={workspaceId} projects={projects} /> : null}
      {error || projects ? null : <Loading />}
    </section>
  )
}

type Projects = readonly { id: string; name: string }[]

function Chosen({ workspaceId, projects }: { workspaceId: string; projects: Projects }) {
  const { project } = secretsRoute.useSearch()
  const mayMake = useMayHere('project.write')
  const chosen = projects.find(({ id }) => id === project) ?? projects[0]
  return chosen ? (
    <OfProject
      key={chosen.id}
      workspaceId={workspaceId}
      projectId={chosen.id}
      projects={projects}
    />
  ) : (
    <EmptyState title={words.noProjects} command="cloakroom projects create billing">
      <p>{words.noProjectsHelp}</p>
      {mayMake ? <NewProject workspaceId={workspaceId} /> : <p>{words.readOnly}</p>}
    </EmptyState>
  )
}

type OfProjectProps = Project & { projects: Projects }

function OfProject({ workspaceId, projectId, projects }: OfProjectProps) {
  const place = useMemo(() => ({ workspaceId, projectId }), [workspaceId, projectId])
  const go = useGo()
  const { data, error } = useAsk('secrets.matrix', place)
  const mayWrite = useMay(place.workspaceId, 'secret.write')
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
        {others.length > 0 ? (
          <Menu label={words.more} name={words.moreName} choices={others} />
        ) : null}
      </div>
      {mayWrite === false ? <p className="note">{words.readOnly}</p> : null}
      {error ? <FailureNote error={error} /> : null}
      {data?.faults.map(({ environment, fault }) => (
        <div key={environment}>
          <h2>{words.notVerified(environment)}</h2>
          <FailureNote error={new AskError(fault)} />
        </div>
      ))}
      <Removing place={place} name={projects.find(({ id }) => id === projectId)?.name ?? ''} />
      {data ? <Shown place={place} matrix={data} /> : error ? null : <Loading />}
    </>
  )
}

/** What can be opened beside the matrix, by its buttons and from the palette, as far as the person may. */
function usePaneCommands() {
  const go = useGo()
  const [writes, makes] = [useMayHere('secret.write'), useMayHere('project.write')]
  const deletes = useMayHere('project.delete')
  const commands = useMemo(() => {
    const panes = {
      ...(writes ? { new: words.add, import: words.import } : {}),
      compare: words.compare,
      deleted: words.deleted,
      ...(makes ? { environment: words.newEnvironment, project: words.newProject } : {}),
      ...(deletes
        ? {
            'delete-environment': texts.removing.environment,
            'delete-project': texts.removing.project,
          }
        : {}),
    }
    return Object.entries(panes).map(([pane, label]) => ({
      id: pane,
      label,
      act: () => go({ pane, key: undefined }),
      isDanger: pane.startsWith('delete-'),
    }))
  }, [go, writes, makes, deletes])
  usePaletteCommands(commands)
  return commands
}

function Shown({ place, matrix }: { place: Project; matrix: Matrix }) {
  const writes = useMayHere('secret.write')
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const keys = useMemo(() => {
    const there = new Set(matrix.rows.map(({ key }) => key))
    return [...selected].filter((key) => there.has(key))
  }, [matrix, selected])
  return (
    <div className="secrets-panes">
      <div className="stack">
        {matrix.rows.length === 0 ? (
          <EmptyState
            title={words.none}
            {...(writes ? { command: 'cloakroom secrets push .env' } : {})}
          >
            {writes ? <p>{words.noneHelp}</p> : null}
          </EmptyState>
        ) : (
          <>
            <Bulk place={place} matrix={matrix} keys={keys} clear={() => setSelected(new Set())} />
            <MatrixTable place={place} matrix={matrix} selected={selected} onSelect={setSelected} />
          </>
        )}
      </div>
      <Panes place={place} matrix={matrix} keys={keys} />
    </div>
  )
}

const bulkWords = texts.secrets

type Props = { place: Project; matrix: Matrix; keys: readonly string[]; clear(): void }

function Bulk({ place, matrix, keys, clear }: Props) {
  const go = useGo()
  const search = secretsRoute.useSearch()
  const { environments, rows } = matrix
  const environment = environments.find((name) => name === search.environment) ?? environments[0]
  if (keys.length === 0 || environment === undefined) return null
  const there = rows
    .filter(({ key, cells }) => keys.includes(key) && cells[environment] !== undefined)
    .map(({ key }) => key)
  const open = (pane: string) => go({ pane, environment, key: undefined })
  return (
    <div className="note row">
      <strong role="status">{bulkWords.selected(keys.length)}</strong>
      <Select
        label={bulkWords.bulkIn}
        options={environments.map((id) => ({ id, label: id }))}
        value={environment}
        onChange={(chosen) => go({ environment: chosen, key: undefined }, true)}
      />
      <Button onPress={() => open('copy')}>{bulkWords.copyTo}</Button>
      <Button onPress={() => open('policy')}>{bulkWords.setPolicies}</Button>
      {there.length > 0 ? (
        <Remove place={{ ...place, environment }} keys={there} onDone={clear} />
      ) : null}
      <Button kind="ghost" onPress={clear}>
        {bulkWords.clearSelection}
      </Button>
    </div>
  )
}
