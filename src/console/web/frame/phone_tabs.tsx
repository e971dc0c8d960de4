/** The areas along the bottom of a phone; the rest is behind "More". */
import { Link, useNavigate } from '@tanstack/react-router'
import { Ellipsis } from 'lucide-react'
import { Button as AriaButton } from 'react-aria-components'
import { Icon } from '../parts/icon.tsx'
import { MenuAround } from '../parts/overlays/menu.tsx'
import { texts } from '../texts/index.ts'
import { useAccountChoices } from './account_menu.tsx'
import { useCurrentWorkspaceId } from './current_workspace.ts'
import { areas, workspaceAreas } from './navigation.ts'
import { WaitingCount } from './waiting_count.tsx'

const words = texts.common
const TABS = 4
const TAB =
  'relative flex min-w-0 flex-col items-center justify-center gap-[3px] text-caption leading-[14px] font-medium text-ink-3 data-[status=active]:text-accent-ink'

export function PhoneTabs() {
  const workspaceId = useCurrentWorkspaceId()
  const navigate = useNavigate()
  const account = useAccountChoices()
  const params = { workspaceId: workspaceId ?? '' }
  const others = workspaceId !== null ? [...areas.slice(TABS), ...workspaceAreas] : []
  const choices = others.map(({ to, label, icon }) => ({
    id: to,
    label,
    icon,
    act: () => void navigate({ to, params }),
  }))
  return (
    <nav
      aria-label={words.phoneNavigation}
      className="grid h-16 shrink-0 grid-cols-5 border-t border-line bg-bg desk:hidden"
    >
      {workspaceId !== null
        ? areas.slice(0, TABS).map(({ to, label, icon }) => (
            <Link key={to} to={to} params={params} className={TAB}>
              <Icon of={icon} size={20} />
              <span className="max-w-full truncate">{words.phoneAreas[label] ?? label}</span>
              {to === '/w/$workspaceId/live' ? (
                <WaitingCount workspaceId={params.workspaceId} isDot />
              ) : null}
            </Link>
          ))
        : null}
      <MenuAround
        label={words.more}
        choices={[...choices, ...account]}
        trigger={
          <AriaButton className={TAB}>
            <Icon of={Ellipsis} size={20} />
            {words.more}
          </AriaButton>
        }
      />
    </nav>
  )
}
