/** A condition of the whole screen. One at a time, above the content. */
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Icon } from '../icon.tsx'

type Props = { kind?: keyof typeof LOOKS; children: ReactNode }

const LOOKS = {
  usual: { look: 'bg-surface-2 text-ink', icon: Info },
  warning: { look: 'bg-amber-soft text-amber', icon: TriangleAlert },
  danger: { look: 'bg-red-soft text-red', icon: CircleAlert },
  good: { look: 'bg-green-soft text-green', icon: CircleCheck },
}

export function Banner({ kind = 'usual', children }: Props) {
  const { look, icon } = LOOKS[kind]
  return (
    <div
      role={kind === 'danger' ? 'alert' : 'note'}
      className={`flex gap-2 rounded-control px-3 py-2 ${look}`}
    >
      <span className="flex h-5 items-center">
        <Icon of={icon} />
      </span>
      <div className="flex min-w-0 flex-1 flex-col gap-2">{children}</div>
    </div>
  )
}
