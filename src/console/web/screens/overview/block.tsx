/** One part of the overview under its heading, with a link to the screen that has all of it. */
import { Link, type LinkProps } from '@tanstack/react-router'
import { type ReactNode, useId } from 'react'

type Props = {
  title: string
  /** After the title: a count. */
  note?: string
  link?: Pick<LinkProps, 'to' | 'params'>
  linkLabel?: string
  children: ReactNode
}

export function Block({ title, note, link, linkLabel, children }: Props) {
  const id = useId()
  return (
    <section
      aria-labelledby={id}
      className="flex min-w-0 flex-col overflow-hidden rounded-card border border-line-2 shadow-control"
    >
      <div className="flex h-9 shrink-0 items-center gap-2 bg-canvas px-3">
        <h2 id={id} className="min-w-0 truncate font-semibold">
          {title}
        </h2>
        {note ? <span className="shrink-0 text-ink-3">{note}</span> : null}
        {link ? (
          <Link {...link} className="ml-auto shrink-0 font-medium text-accent-ink hover:underline">
            {linkLabel}
          </Link>
        ) : null}
      </div>
      {children}
    </section>
  )
}

export function Nothing({ text }: { text: string }) {
  return <p className="border-t border-line px-3 py-3 text-ink-3">{text}</p>
}
