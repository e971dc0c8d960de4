/** Workspace, search and areas at the left; at the bottom the account. */
import { Link, type LinkProps } from '@tanstack/react-router'
import { type LucideIcon, Search } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { useLandmark } from 'react-aria/useLandmark'
import { Button as AriaButton } from 'react-aria-components'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/index.ts'
import { AccountMenu } from './account_menu.tsx'
import { useCurrentWorkspaceId } from './current_workspace.ts'
import { areas, workspaceAreas } from './navigation.ts'
import { openPalette } from './palette_state.ts'
import { WaitingCount } from './waiting_count.tsx'
import { WorkspaceMenu } from './workspace_menu.tsx'

const words = texts.common

export function Sidebar({ email }: { email: string }) {
  const ref = useRef<HTMLElement>(null)
  const { landmarkProps } = useLandmark({ role: 'navigation' }, ref)
  const workspaceId = useCurrentWorkspaceId()
  return (
    <nav
      {...landmarkProps}
      ref={ref}
      aria-label={words.navigation}
      className="flex w-56 shrink-0 flex-col overflow-y-auto border-r border-line bg-canvas phone:hidden"
    >
      <div className="flex flex-1 flex-col gap-0.5 p-2.5">
        <WorkspaceMenu />
        <AriaButton
          className="my-1.5 mb-2.5 flex h-[30px] items-center gap-2 rounded-control border border-line-2 bg-surface px-2 text-ink-3 shadow-control hovered:border-control"
          aria-keyshortcuts="Control+K Meta+K"
          onPress={() => openPalette()}
        >
          <Icon of={Search} size={15} />
          {words.search}
          <kbd className="ml-auto rounded-[4px] border border-line-2 px-1 text-caption font-medium">
            {words.searchKeys}
          </kbd>
        </AriaButton>
        {workspaceId === null ? null : <Areas workspaceId={workspaceId} />}
      </div>
      <AccountMenu email={email} />
    </nav>
  )
}

function Areas({ workspaceId }: { workspaceId: string }) {
  const params = { workspaceId }
  return (
    <>
      {areas.map(({ to, label, icon }) => (
        <AreaLink key={to} to={to} params={params} icon={icon} label={label}>
          {to === '/w/$workspaceId/live' ? <WaitingCount workspaceId={workspaceId} /> : null}
        </AreaLink>
      ))}
      <p className="px-2 pt-3.5 pb-1 text-caption font-medium text-ink-3">{words.workspace}</p>
      {workspaceAreas.map(({ to, label, icon }) => (
        <AreaLink key={to} to={to} params={params} icon={icon} label={label} />
      ))}
    </>
  )
}

type AreaProps = Pick<LinkProps, 'to' | 'params'> & {
  icon: LucideIcon
  label: string
  children?: ReactNode
}

const AREA =
  'flex h-[30px] shrink-0 items-center gap-2.5 rounded-control px-2 font-medium text-ink-2 hover:text-ink data-[status=active]:bg-surface-2 data-[status=active]:text-ink forced-colors:data-[status=active]:outline [&_svg]:text-ink-3 data-[status=active]:[&_svg]:text-ink'

function AreaLink({ icon, label, children, ...link }: AreaProps) {
  return (
    <Link {...link} className={AREA}>
      <Icon of={icon} />
      {label}
      {children}
    </Link>
  )
}
