/** Nothing is here yet: what would be, and how to get it, with the command that does the same at a terminal. */
import type { ReactNode } from 'react'
import { texts } from '../../texts/index.ts'
import { CopyButton } from '../copy.tsx'

type Props = { title: string; children?: ReactNode; command?: string }

export function EmptyState({ title, children, command }: Props) {
  return (
    <div className="empty stack">
      <p className="empty-title">{title}</p>
      {children}
      {command ? (
        <p className="soft">
          {texts.common.atTerminal} <CopyButton text={command} name={texts.common.theCommand} />
        </p>
      ) : null}
    </div>
  )
}
