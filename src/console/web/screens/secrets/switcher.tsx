/** The name of the project; pressed it lists the others. */
import { ChevronsUpDown } from 'lucide-react'
import { Button as AriaButton } from 'react-aria-components'
import { Icon } from '../../parts/icon.tsx'
import { MenuAround } from '../../parts/overlays/menu.tsx'
import { texts } from '../../texts/index.ts'
import { useGo } from './place.ts'

export type Projects = readonly { id: string; name: string }[]

export function ProjectSwitcher({ projects, chosen }: { projects: Projects; chosen: string }) {
  const go = useGo()
  const name = projects.find(({ id }) => id === chosen)?.name ?? ''
  return (
    <MenuAround
      label={texts.matrix.project(name)}
      trigger={
        <AriaButton className="-mx-1.5 inline-flex min-w-0 items-center gap-1.5 rounded-control px-1.5 py-1 font-semibold text-ink hover:bg-hover phone:text-[16px]">
          <span className="truncate">{name}</span>
          <span className="text-ink-3">
            <Icon of={ChevronsUpDown} />
          </span>
        </AriaButton>
      }
      choices={projects.map((project) => ({
        id: project.id,
        label: project.name,
        isSelected: project.id === chosen,
        act: () => go({ project: project.id, key: undefined, pane: undefined }),
      }))}
    />
  )
}
