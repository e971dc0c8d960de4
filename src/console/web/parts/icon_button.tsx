/** A button with an icon alone. Its label is read, and shown when it is pointed at or has the focus. */
import type { LucideIcon } from 'lucide-react'
import { Button as AriaButton, type ButtonProps } from 'react-aria-components'
import { type ButtonLook, squareButtonClass, WithSpinner } from './button.tsx'
import { Icon } from './icon.tsx'
import { Tooltip } from './overlays/tooltip.tsx'

type Props = Omit<ButtonProps, 'className' | 'style' | 'children' | 'aria-label'> &
  Pick<ButtonLook, 'kind' | 'size' | 'shortcut'> & {
    icon: LucideIcon
    label: string
    /** A shorter label for the tooltip. */
    tip?: string
  }

export function IconButton({ icon, label, tip, kind = 'ghost', size, shortcut, ...props }: Props) {
  return (
    <Tooltip text={tip ?? label} shortcut={shortcut}>
      <AriaButton
        className={squareButtonClass(kind, size ?? 'normal')}
        aria-label={label}
        {...props}
      >
        <WithSpinner isPending={props.isPending === true}>
          <Icon of={icon} />
        </WithSpinner>
      </AriaButton>
    </Tooltip>
  )
}
