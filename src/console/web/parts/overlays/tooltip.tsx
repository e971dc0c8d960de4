/** Names the icon that is pointed at, with its shortcut. */
import type { ReactNode } from 'react'
import { UNSAFE_PortalProvider } from 'react-aria/PortalProvider'
import { Tooltip as AriaTooltip, TooltipTrigger } from 'react-aria-components'
import { Kbd } from '../show/kbd.tsx'

type Props = { text: string; shortcut?: string | undefined; children: ReactNode }

const DELAY_MS = 500

/** The child is a button of React Aria. */
export function Tooltip({ text, shortcut, children }: Props) {
  return (
    <TooltipTrigger delay={DELAY_MS}>
      {children}
      <UNSAFE_PortalProvider getContainer={findContainer}>
        <AriaTooltip
          offset={6}
          className="flex max-w-60 items-center gap-2 rounded-[6px] bg-ink px-2 py-1 text-small text-bg shadow-pop"
        >
          {text}
          {shortcut ? <Kbd>{shortcut}</Kbd> : null}
        </AriaTooltip>
      </UNSAFE_PortalProvider>
    </TooltipTrigger>
  )
}

/** Screen readers skip text outside of landmarks. The landmark is not positioned, so the page places the tooltip. */
function findContainer(): HTMLElement {
  return document.querySelector('main') ?? document.body
}
