/** What a whole screen should be read with. */
import type { ReactNode } from 'react'

type Props = { kind?: 'usual' | 'warning' | 'danger' | 'good'; children: ReactNode }

export function Banner({ kind = 'usual', children }: Props) {
  return (
    <div className={`note note-${kind}`} role={kind === 'danger' ? 'alert' : 'note'}>
      {children}
    </div>
  )
}
