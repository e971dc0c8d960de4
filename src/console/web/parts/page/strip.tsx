/** One line across the screen, above its content: something noticed, or something that blocks it. */
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Icon } from '../icon.tsx'

type Props = {
  icon: LucideIcon
  isDanger?: boolean
  /** A small button at the right. */
  action: ReactNode
  children: ReactNode
}

export function Strip({ icon, isDanger = false, action, children }: Props) {
  return (
    <div
      role={isDanger ? 'alert' : 'note'}
      className={`flex shrink-0 items-start gap-3 border-b border-line px-5 py-2 phone:px-4 ${isDanger ? 'bg-red-soft text-red phone:pl-14' : 'bg-surface-2'}`}
    >
      <span className={`flex h-5 items-center ${isDanger ? '' : 'text-ink-3'}`}>
        <Icon of={icon} />
      </span>
      <div className="flex min-w-0 flex-1 flex-col gap-0.5 wrap-anywhere">{children}</div>
      {action}
    </div>
  )
}
