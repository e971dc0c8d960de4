/** The frame of every screen: a title with its actions, a toolbar, the content, and an inspector beside it. */
import type { LucideIcon } from 'lucide-react'
import { MoreHorizontal } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import { texts } from '../../texts/index.ts'
import { Button } from '../button.tsx'
import { IconMenu, type MenuChoice } from '../overlays/menu.tsx'

export type ScreenAction = { id: string; label: string; icon?: LucideIcon; act(): void }

type Props = {
  /** The heading of the page. */
  title: string
  /** Before the title, such as the area that the thing of the title is in. */
  crumb?: ReactNode
  /** Instead of the title's text, such as a menu of projects. The title stays the accessible heading. */
  switcher?: ReactNode
  /** After the title: a status. */
  state?: ReactNode
  /** The one primary action. */
  primary?: ReactNode
  /** Buttons on a wide screen, choices of the menu on a phone. */
  secondary?: readonly ScreenAction[]
  /** Choices of the menu at the right. */
  more?: readonly MenuChoice[]
  /** Below the title, over the whole width. */
  toolbar?: ReactNode
  inspector?: ReactNode
  /** Text and cards that scroll together; without it, the content fills the height and scrolls itself. */
  isPage?: boolean
  children: ReactNode
}

export function Screen(props: Props) {
  const { toolbar, inspector, isPage = false, children, ...top } = props
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <TopBar {...top} />
      {toolbar ? (
        <div className="flex min-h-14 shrink-0 items-center gap-2 px-5 py-3 phone:px-4">
          {toolbar}
        </div>
      ) : null}
      <div
        className={`relative flex min-h-0 flex-1 ${toolbar ? 'desk:border-t desk:border-line' : ''}`}
      >
        <div
          data-content
          className={
            isPage
              ? 'min-w-0 flex-1 overflow-auto px-5 py-5 phone:px-4'
              : 'flex min-h-0 min-w-0 flex-1 flex-col'
          }
        >
          {isPage ? <div className="flex flex-col gap-6">{children}</div> : children}
        </div>
        {inspector}
      </div>
    </div>
  )
}

type TopBarProps = Omit<Props, 'toolbar' | 'inspector' | 'isPage' | 'children'>

/** Typing in the list below renders the buttons again only if one of them changes. */
const TopBar = memo(function TopBar(props: TopBarProps) {
  const { title, crumb, switcher, state, primary, secondary = [], more = [] } = props
  const choices = [...secondary, ...more]
  const menu = { label: texts.common.more, icon: MoreHorizontal }
  return (
    <header className="flex h-13 shrink-0 items-center gap-2 border-b border-line px-5 phone:px-4">
      <div className="flex min-w-0 items-center gap-1.5 font-medium text-ink-2 phone:pl-8">
        {crumb ? (
          <>
            <span className="phone:hidden">{crumb}</span>
            <span aria-hidden="true" className="text-ink-3 phone:hidden">
              /
            </span>
          </>
        ) : null}
        <h1
          tabIndex={-1}
          className={
            switcher ? 'sr-only' : 'truncate text-title font-semibold text-ink phone:text-[16px]'
          }
        >
          {title}
        </h1>
        {switcher}
      </div>
      {state}
      <div className="ml-auto flex shrink-0 items-center gap-2">
        {secondary.map(({ id, label, icon, act }) => (
          <span key={id} className="contents phone:hidden">
            <Button {...(icon ? { icon } : {})} onPress={act}>
              {label}
            </Button>
          </span>
        ))}
        {primary}
        {more.length > 0 ? (
          <span className="contents phone:hidden">
            <IconMenu {...menu} choices={more} />
          </span>
        ) : null}
        {choices.length > 0 ? (
          <span className="contents desk:hidden">
            <IconMenu {...menu} choices={choices} />
          </span>
        ) : null}
      </div>
    </header>
  )
})
