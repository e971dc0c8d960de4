/** An empty list: what would be here, one action that starts it, and the command that does the same. */
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { texts } from '../../texts/index.ts'
import { Icon } from '../icon.tsx'
import { Command } from '../show/command.tsx'

type Props = {
  title: string
  icon?: LucideIcon
  action?: ReactNode
  command?: string
  children?: ReactNode
}

export function EmptyState({ title, icon, action, command, children }: Props) {
  return (
    <div className="flex flex-col items-center gap-3 px-5 py-12 text-center">
      {icon ? (
        <span className="grid size-10 place-items-center rounded-card border border-line text-ink-3 shadow-control">
          <Icon of={icon} size={20} />
        </span>
      ) : null}
      <p className="max-w-100 font-medium">{title}</p>
      {children ? <div className="max-w-120 text-ink-2">{children}</div> : null}
      {action}
      {command ? (
        <p className="text-small text-ink-2">
          {texts.common.atTerminal} <Command text={command} />
        </p>
      ) : null}
    </div>
  )
}
