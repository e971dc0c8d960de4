/** One setting or subject with at most one action. */
import { type ReactNode, useId } from 'react'

type Props = { title: string; description?: ReactNode; action?: ReactNode; children?: ReactNode }

export function Card({ title, description, action, children }: Props) {
  const id = useId()
  return (
    <section
      aria-labelledby={id}
      className="flex w-full max-w-160 flex-col gap-4 rounded-card border border-line bg-surface p-4 shadow-control"
    >
      <div className="flex items-start gap-4 phone:flex-col phone:gap-3">
        <div className="min-w-0 flex-1">
          <h2 id={id} className="font-semibold">
            {title}
          </h2>
          {description ? <p className="text-ink-2">{description}</p> : null}
        </div>
        {action}
      </div>
      {children}
    </section>
  )
}
