/** The secrets of a project by environment, with missing and different values, and all actions. */
import { FolderPlus } from 'lucide-react'
import { Button } from '../../parts/button.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Screen } from '../../parts/page/screen.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { secretsRoute, useGo, useMayHere, useParameter } from './place.ts'
import { ProjectScreen } from './project.tsx'
import { NewProject } from './sheets/new_project.tsx'

const words = texts.matrix

export function Secrets() {
  const { workspaceId } = secretsRoute.useParams()
  const project = useParameter('project')
  const pane = useParameter('pane')
  const { data: projects, error } = useAsk('workspaces.projects', { workspaceId })
  const mayMake = useMayHere('project.write')
  const chosen = projects?.find(({ id }) => id === project) ?? projects?.[0]
  return (
    <>
      {projects && chosen ? (
        <ProjectScreen
          key={chosen.id}
          workspaceId={workspaceId}
          projectId={chosen.id}
          projects={projects}
        />
      ) : (
        <Screen title={words.title}>
          {error ? <FailureNote error={error} /> : null}
          {projects ? <NoProjects /> : null}
          {error || projects ? null : <SkeletonRows count={15} />}
        </Screen>
      )}
      {mayMake && pane === 'project' ? <NewProject workspaceId={workspaceId} /> : null}
    </>
  )
}

function NoProjects() {
  const go = useGo()
  const mayMake = useMayHere('project.write')
  return (
    <EmptyState
      icon={FolderPlus}
      title={words.noProjects}
      command="cloakroom project create billing"
      action={
        mayMake ? (
          <Button kind="primary" onPress={() => go({ pane: 'project' })}>
            {texts.secretSheets.createProject}
          </Button>
        ) : undefined
      }
    />
  )
}
