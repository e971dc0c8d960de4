/** The frame of every page before the console is open: the mark, a title, the server, and one card's width of content. */
import type { ReactNode } from 'react'
import { texts } from '../../texts/index.ts'

type Props = {
  title: string
  /** Below the title, such as the account. */
  about?: ReactNode
  isWide?: boolean
  children: ReactNode
}

export function EntryPage({ title, about, isWide = false, children }: Props) {
  return (
    <main className="grid min-h-full place-items-center bg-canvas px-4 py-10 phone:place-items-start phone:bg-bg">
      <div
        className={`flex w-full flex-col gap-5 rounded-card bg-surface p-6 desk:border desk:border-line desk:shadow-pop phone:p-0 ${isWide ? 'max-w-140' : 'max-w-95'}`}
      >
        <header className="flex flex-col gap-4">
          <div className="flex items-center gap-2 font-semibold">
            <Mark />
            {texts.common.appName}
            <span className="ml-auto truncate text-small font-normal text-ink-3">
              {location.host}
            </span>
          </div>
          <div>
            <h1 tabIndex={-1} className="text-figure font-semibold">
              {title}
            </h1>
            {about ? <div className="truncate text-ink-2">{about}</div> : null}
          </div>
        </header>
        {children}
      </div>
    </main>
  )
}

/** A ticket with its number torn off. */
function Mark() {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true" className="size-6 text-accent">
      <path
        fill="currentColor"
        d="M5 4h14a2 2 0 0 1 2 2v4a2 2 0 0 0 0 4v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4a2 2 0 0 0 0-4V6a2 2 0 0 1 2-2z"
      />
      <path className="stroke-surface" fill="none" strokeWidth="2" d="M9 8v8M13 12h4" />
    </svg>
  )
}
