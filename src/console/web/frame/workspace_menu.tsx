/** Switches between workspaces. */
import { useNavigate } from '@tanstack/react-router'
import { Building2, ChevronsUpDown, Plus } from 'lucide-react'
import { useMemo } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import type { Returned } from '../keys/messages.ts'
import { Icon } from '../parts/icon.tsx'
import { MenuAround } from '../parts/overlays/menu.tsx'
import { Avatar } from '../parts/show/avatar.tsx'
import { useAsk } from '../queries.ts'
import { texts } from '../texts/index.ts'
import { useCurrentWorkspace } from './current_workspace.ts'
import { usePaletteCommands } from './palette_state.ts'
import { workspaceLabel } from './workspace_label.ts'

const words = texts.common
const NONE: Returned<'workspaces.list'> = []

/** `isSmall` shows the square alone, for phones. */
export function WorkspaceMenu({ isSmall = false }: { isSmall?: boolean }) {
  const { data = NONE } = useAsk('workspaces.list', null)
  const navigate = useNavigate()
  const current = useCurrentWorkspace()
  const workspaces = useMemo(
    () =>
      data.map((each) => ({
        id: each.id,
        label: workspaceLabel(each, data),
        icon: Building2,
        group: 'workspaces' as const,
        act: () => void navigate({ to: '/w/$workspaceId', params: { workspaceId: each.id } }),
      })),
    [data, navigate],
  )
  usePaletteCommands(workspaces)
  const all = {
    id: 'all',
    label: words.allWorkspaces,
    icon: Plus,
    act: () => void navigate({ to: '/workspaces' }),
  }
  const name = current ? workspaceLabel(current.workspace, data) : words.workspace
  const selected = current?.workspace.id
  const choices = workspaces.map((each) => ({ ...each, isSelected: each.id === selected }))
  return (
    <MenuAround
      label={`${words.workspace}: ${name}`}
      choices={[...choices, all]}
      trigger={
        <AriaButton className="relative flex min-w-0 items-center gap-2 rounded-control p-1.5 hovered:bg-hover phone:after:absolute phone:after:-inset-[5px]">
          <Avatar name={name} shape="square" size={22} />
          {isSmall ? null : (
            <>
              <span className="truncate font-semibold">{name}</span>
              <span className="ml-auto text-ink-3">
                <Icon of={ChevronsUpDown} />
              </span>
            </>
          )}
        </AriaButton>
      }
    />
  )
}
